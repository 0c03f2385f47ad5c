import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { decodeImage, resizeBitmap } from '../../api/shared/image/image.ts'
import type { Engine } from '../../worker/engines/engine.ts'
import { findInstalled } from '../../worker/engines/installed.ts'
import { createEngines, ENGINES, type EngineFactory } from '../../worker/engines/registry.ts'
import { type ModelEntry, openModels, verifyModels } from '../../worker/inference/models.ts'
import { PROVIDERS } from '../../worker/inference/session.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'
import type { Report } from '../quality/report.ts'
import { UsageError } from './options.ts'

const MODELS = fileURLToPath(new URL('../../worker/models', import.meta.url))
const SAMPLES = new URL('../samples/', import.meta.url)
const SIZE = { width: 576, height: 720 }
const RUNS = 3

/**
 * Describes an engine: licence, files with the hashes of the files on disk, memory of a process that runs the engine, provider
 * and the operators that ran on each in the self-test, seconds per image of 576 × 720 px on this machine, and the last measured quality (null if not measured). Looks for external engines in
 * `ENGINE_DIR` and runs them on `EXECUTION_PROVIDER`, as workers do. Throws `UsageError` for an unknown engine.
 */
export async function engineCard(name: string): Promise<Record<string, unknown>> {
  const installed = await findInstalled([name], process.env.ENGINE_DIR ?? '')
  const all = new Map([...ENGINES, ...installed])
  const known = all.get(name)
  if (!known) throw new UsageError(`The engine "${name}" does not exist: name one of ${[...all.keys()].join(', ')}`)
  const { manifest } = known
  const files = [...(known.files ?? []), ...(manifest.accepts.needsPerson ? await readFiles() : [])]
  return {
    engine: `${manifest.name} ${manifest.version}`,
    kind: manifest.kind,
    license: manifest.license,
    auxiliary: manifest.auxiliary ?? [],
    aiGenerated: manifest.aiGenerated,
    accepts: manifest.accepts,
    minMemoryMiB: manifest.minMemoryMiB ?? null,
    files,
    ...(await measureRuns(manifest.name, all)),
    hardware: `${availableParallelism()} of ${cpus().length} ${process.arch} cores (${cpus()[0].model.trim()})`,
    quality: await readQuality(manifest.name),
  }
}

type CardFile = Pick<ModelEntry, 'name' | 'sha256' | 'bytes' | 'license' | 'source'>

async function readFiles(): Promise<CardFile[]> {
  await verifyModels(MODELS)
  const { models }: { models: ModelEntry[] } = JSON.parse(await readFile(`${MODELS}/manifest.json`, 'utf8'))
  return models.map(({ name, sha256, bytes, license, source }) => ({ name, sha256, bytes, license, source }))
}

async function measureRuns(name: string, known: ReadonlyMap<string, EngineFactory>) {
  const provider = PROVIDERS.find((one) => one === (process.env.EXECUTION_PROVIDER ?? 'cpu'))
  if (!provider) throw new UsageError(`EXECUTION_PROVIDER must be one of ${PROVIDERS.join(', ')}`)
  const models = await openModels(MODELS, { provider })
  const engine = (await createEngines([name], { models, provider, known, acknowledged: [name] })).get(name)
  if (!engine) throw new UsageError(`the engine "${name}" could not be created`)
  const proof = await engine.selfTest?.()
  const person = await resizeBitmap(await readSample('persons/down-half-teal.jpg'), SIZE)
  const garment = await readSample('garments/tshirt-mustard.jpg')
  const seconds: number[] = []
  for (let run = 0; run < RUNS; run++)
    seconds.push(await timeRun(engine, { person, garment, garmentHash: `run ${run}` }))
  await engine.release?.()
  await models.release()
  const median = seconds.toSorted((a, b) => a - b)[RUNS >> 1]
  return {
    provider,
    operators: proof?.operators ?? null,
    secondsPerImage: Number(median.toFixed(3)),
    memoryMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  }
}

async function timeRun(
  engine: Engine,
  input: { person: Bitmap; garment: Bitmap; garmentHash: string },
): Promise<number> {
  const started = performance.now()
  await engine.run(
    { ...input, category: 'tops', options: { seed: 1, mode: 'balanced' } },
    { signal: new AbortController().signal, onProgress: () => {} },
  )
  return (performance.now() - started) / 1000
}

async function readSample(path: string): Promise<Bitmap> {
  return decodeImage(await readFile(new URL(path, SAMPLES)))
}

async function readQuality(name: string): Promise<Report | null> {
  const path = new URL(`../quality/${name}.json`, import.meta.url)
  return readFile(path, 'utf8').then(JSON.parse, (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}
