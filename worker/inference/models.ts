import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSession, type Provider, type Session, type TensorShape } from './session.ts'

/** One entry of a model folder's `manifest.json`. */
export interface ModelEntry {
  readonly name: string
  readonly file: string
  /** Lower-case hex. */
  readonly sha256: string
  readonly bytes: number
  /** SPDX identifier. */
  readonly license: string
  readonly source: string
  /** False for a large model that rarely runs: its memory is freed after each run. */
  readonly arena?: boolean
  readonly inputs: readonly TensorShape[]
  readonly outputs: readonly TensorShape[]
}

/** Opened models of one folder. */
export interface Models {
  /** @throws Error if no model with that name is open. */
  session(name: string): Session
  has(name: string): boolean
  release(): Promise<void>
}

/**
 * Opens the models in `names`, or all models of the folder's `manifest.json`. Reads a file only if its size and SHA-256 match
 * its entry, and opens a model only if the names and shapes of its inputs and outputs match. A file of an `optional` model may be
 * missing.
 * @throws Error that names the file and the problem; closes all models in that case.
 */
export async function openModels(
  folder: string,
  {
    names,
    optional = [],
    provider,
    threads,
  }: { names?: readonly string[]; optional?: readonly string[]; provider?: Provider; threads?: number } = {},
): Promise<Models> {
  const isThere = ({ name, file }: ModelEntry) => !optional.includes(name) || existsSync(join(folder, file))
  const entries = selectEntries(await readManifest(folder), names, folder).filter(isThere)
  const sessions = new Map<string, Session>()
  const release = async () => {
    for (const session of sessions.values()) await session.release()
  }
  try {
    for (const entry of entries) sessions.set(entry.name, await openModel(folder, entry, { provider, threads }))
  } catch (error) {
    await release()
    throw error
  }
  return {
    session: (name) => sessions.get(name) ?? fail(join(folder, 'manifest.json'), `no open model "${name}"`),
    has: (name) => sessions.has(name),
    release,
  }
}

/**
 * Compares all model files of the folder with the manifest without opening them. Returns the SHA-256 of each file by
 * path.
 * @throws Error that names the first file that is missing or differs from its entry.
 */
export async function verifyModels(folder: string): Promise<Record<string, string>> {
  const entries = await readManifest(folder)
  for (const entry of entries) {
    const path = join(folder, entry.file)
    checkBytes(path, await readBytes(path), entry)
  }
  return Object.fromEntries(entries.map(({ file, sha256 }) => [file, sha256]))
}

/** @throws Error that names the manifest and its first invalid entry. */
export async function readManifest(folder: string): Promise<ModelEntry[]> {
  const path = join(folder, 'manifest.json')
  const manifest = parseJson(path, (await readBytes(path)).toString('utf8'))
  if (!isRecord(manifest) || !Array.isArray(manifest.models)) fail(path, 'has no list "models"')
  return manifest.models.map((entry: unknown, i: number) =>
    isModelEntry(entry) ? entry : fail(path, `models[${i}] is incomplete or has a member of the wrong type`),
  )
}

async function openModel(
  folder: string,
  entry: ModelEntry,
  options: { provider?: Provider; threads?: number },
): Promise<Session> {
  const path = join(folder, entry.file)
  const bytes = await readBytes(path)
  checkBytes(path, bytes, entry)
  const session = await openSession(bytes, { ...options, arena: entry.arena }).catch((cause: Error) =>
    fail(path, `cannot be opened on ${options.provider ?? 'cpu'}: ${cause.message}`, cause),
  )
  const problem =
    shapeProblem('input', session.inputs, entry.inputs) ?? shapeProblem('output', session.outputs, entry.outputs)
  if (problem !== undefined) {
    await session.release()
    fail(path, problem)
  }
  return session
}

function checkBytes(path: string, bytes: Uint8Array, { bytes: size, sha256 }: ModelEntry): void {
  if (bytes.length !== size) fail(path, `has ${bytes.length} bytes, expected ${size}`)
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== sha256) fail(path, `has the SHA-256 ${found}, expected ${sha256}`)
}

/** Describes the first difference between the actual and the expected inputs or outputs of a model; undefined if they match. */
export function shapeProblem(
  side: 'input' | 'output',
  found: readonly TensorShape[],
  expected: readonly TensorShape[],
): string | undefined {
  const describe = (tensors: readonly TensorShape[]) =>
    tensors
      .map(({ name, shape }) => `${name} ${shape.join('×')}`)
      .sort()
      .join(', ')
  if (describe(found) === describe(expected)) return undefined
  return `has the ${side}s ${describe(found)}; expected ${describe(expected)}`
}

function selectEntries(entries: ModelEntry[], names: readonly string[] | undefined, folder: string): ModelEntry[] {
  if (names === undefined) return entries
  return names.map(
    (name) =>
      entries.find((entry) => entry.name === name) ?? fail(join(folder, 'manifest.json'), `has no model "${name}"`),
  )
}

async function readBytes(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => fail(path, 'cannot be read', cause))
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    return fail(path, 'is not JSON', cause)
  }
}

function isModelEntry(value: unknown): value is ModelEntry {
  if (!isRecord(value)) return false
  const texts = ['name', 'file', 'sha256', 'license', 'source']
  return (
    texts.every((key) => typeof value[key] === 'string') &&
    Number.isInteger(value.bytes) &&
    ['undefined', 'boolean'].includes(typeof value.arena) &&
    isTensorShapes(value.inputs) &&
    isTensorShapes(value.outputs)
  )
}

function isTensorShapes(value: unknown): value is TensorShape[] {
  const isSize = (size: unknown) => typeof size === 'string' || Number.isInteger(size)
  return (
    Array.isArray(value) &&
    value.every(
      (tensor) =>
        isRecord(tensor) &&
        typeof tensor.name === 'string' &&
        Array.isArray(tensor.shape) &&
        tensor.shape.every(isSize),
    )
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function fail(path: string, problem: string, cause?: unknown): never {
  throw new Error(`${path}: ${problem}`, { cause })
}
