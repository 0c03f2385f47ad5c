import { createHash } from 'node:crypto'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readBytes } from './safetensors.ts'

const FIXTURES = resolve(import.meta.dirname, '../fixtures')
/** Index of `bottoms` in the embedded categories. */
const BOTTOMS = 2

/** A copy of a tiny engine in a new folder. */
export function copyTinyEngine(folder: string): Promise<void> {
  return cp(join(FIXTURES, 'fashn-vton/engine'), folder, { recursive: true })
}

/** Changes a file of an engine and, unless the change should be detected, its entry in `engine.json`. */
export async function changeEngineFile(
  folder: string,
  file: string,
  change: (bytes: Buffer) => Buffer,
  { noticed = false } = {},
): Promise<void> {
  const bytes = change(await readFile(join(folder, file)))
  await writeFile(join(folder, file), bytes)
  if (noticed) return
  const print = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
  await changeEngineManifest(folder, (manifest) => {
    for (const entry of manifest.files) if (entry.path === file) Object.assign(entry, print)
  })
}

// biome-ignore lint/suspicious/noExplicitAny: tests break it in every way
export async function changeEngineManifest(folder: string, change: (manifest: any) => void): Promise<void> {
  const path = join(folder, 'engine.json')
  const manifest = JSON.parse(await readFile(path, 'utf8'))
  change(manifest)
  await writeFile(path, JSON.stringify(manifest))
}

/** Makes the model return NaN only for trousers and skirts. */
export async function spoilBottoms(folder: string): Promise<void> {
  const embedded = readBytes(await readFile(join(FIXTURES, 'fashn-vton/tiny.state.safetensors')), 'y_embedder.weight')
  const row = Buffer.from(embedded.subarray((BOTTOMS * embedded.length) / 4, ((BOTTOMS + 1) * embedded.length) / 4))
  await changeEngineFile(folder, 'modulation.weights', (bytes) => {
    const at = bytes.indexOf(row)
    if (at < 0) throw new Error('the weights do not hold the embedded category')
    bytes.writeFloatLE(Number.NaN, at)
    return bytes
  })
}

/** Puts the graphs of `fixtures/dwpose` into a folder of FASHN VTON, as the export does. */
export async function addPose(folder: string, { commercial = true } = {}): Promise<void> {
  const license = { spdx: 'LicenseRef-DWPose', commercial }
  await addGraphs(folder, { from: 'dwpose', auxiliary: { name: 'dwpose', license }, graphs: POSE })
}

type Tensors = readonly (readonly [name: string, shape: readonly number[]])[]
interface Graph {
  readonly name: string
  readonly inputs: Tensors
  readonly outputs: Tensors
}

const POSE: readonly Graph[] = [
  { name: 'pose-detector', inputs: [['images', [1, 3, 640, 640]]], outputs: [['output', [1, 8400, 85]]] },
  {
    name: 'pose-keypoints',
    inputs: [['input', [1, 3, 384, 288]]],
    outputs: [
      ['simcc_x', [1, 133, 576]],
      ['simcc_y', [1, 133, 768]],
    ],
  },
]
async function addGraphs(
  folder: string,
  { from, auxiliary, graphs }: { from: string; auxiliary: object; graphs: readonly Graph[] },
): Promise<void> {
  const describe = (tensors: Tensors) => tensors.map(([name, shape]) => ({ name, shape }))
  await changeEngineManifest(folder, (manifest) => {
    manifest.auxiliary = [...(manifest.auxiliary ?? []), auxiliary]
  })
  for (const { name, inputs, outputs } of graphs) {
    const file = `${name}.onnx`
    const bytes = await readFile(join(FIXTURES, from, file))
    await writeFile(join(folder, file), bytes)
    await changeEngineManifest(folder, (manifest) => {
      manifest.models.push({ name, file, inputs: describe(inputs), outputs: describe(outputs) })
      manifest.files.push({ path: file, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length })
    })
  }
}
