import { readFile } from 'node:fs/promises'
import { type Bitmap, decodeImage } from '../../api/shared/image/image.ts'
import type { Engine, EngineProof } from '../engines/engine.ts'
import { tryOn } from '../job/try-on.ts'
import { DeviceFault } from './device-fault.ts'
import type { Models } from './models.ts'

/** Mean sRGB of the chest in the warp engine's result for the two images beside this file, within the tolerance on any provider. */
const GOLDEN = { red: 160, green: 128, blue: 24 }
const TOLERANCE = 12
/** Shares of the image's width and height. */
const CHEST = { left: 0.4, right: 0.6, top: 0.42, bottom: 0.62 }
/** Cache key of the garment. */
const OWN_GARMENT = 'self-test'
/** A run is faster than the fastest one before when it takes less than this share of its time. */
const FASTER = 0.95
/** Runs without a faster one, after which the time has settled. */
const SETTLED_RUNS = 3

interface WarmUp {
  readonly models: Models
  readonly engines: ReadonlyMap<string, Engine>
  readonly signal: AbortSignal
}

/**
 * Runs the warp engine on a known pair before the first job: verifies the result, and loads everything that the first job
 * needs. One run: the engine repeats its result exactly, so a second run verifies nothing new and takes as long as a job. Runs the self-tests of engines that have one and returns their findings by engine name.
 * @throws Error that describes the problem; `DeviceFault` if the result differs from the known one
 */
export async function runSelfTest({
  models,
  engines,
}: {
  models: Models
  engines: ReadonlyMap<string, Engine>
}): Promise<Readonly<Record<string, EngineProof>>> {
  const proofs: Record<string, EngineProof> = {}
  for (const [name, engine] of engines) if (engine.selfTest) proofs[name] = await engine.selfTest()
  if (engines.has('warp')) await tryWarp({ models, engines })
  engines.get('warp')?.cache?.evict(OWN_GARMENT)
  return proofs
}

/**
 * Repeats the run of the warp engine until it gets no faster, because V8 compiles the code of a job over several jobs. Throws the
 * signal's reason after an abort, which takes as long as the rest of a run.
 */
export async function warmUp({ models, engines, signal }: WarmUp): Promise<void> {
  let fastest = Number.POSITIVE_INFINITY
  for (let settled = 0; engines.has('warp') && settled < SETTLED_RUNS; ) {
    const started = performance.now()
    await tryWarp({ models, engines, signal })
    engines.get('warp')?.cache?.evict(OWN_GARMENT)
    const ms = performance.now() - started
    settled = ms < FASTER * fastest ? 0 : settled + 1
    fastest = Math.min(fastest, ms)
  }
}

async function tryWarp({
  models,
  engines,
  signal = new AbortController().signal,
}: Partial<WarmUp> & Pick<WarmUp, 'models' | 'engines'>): Promise<void> {
  const [photo, garment] = await Promise.all(['person', 'garment'].map(readSample))
  const { image } = await tryOn(
    {
      engine: 'warp',
      photo,
      crop: 'auto',
      garment,
      garmentHash: OWN_GARMENT,
      product: { title: null, description: null, classifications: null },
      options: { watermark: false, seed: 1, mode: 'balanced', format: 'jpeg', fullResolution: false },
      logo: null,
    },
    { models, engines, signal, onProgress: () => {} },
  )
  checkChest(await decodeImage(image))
}

function readSample(name: string): Promise<Buffer> {
  return readFile(new URL(`self-test/${name}.jpg`, import.meta.url))
}

function checkChest(bitmap: Bitmap): void {
  const [red, green, blue] = meanOfChest(bitmap)
  const off = Math.max(Math.abs(red - GOLDEN.red), Math.abs(green - GOLDEN.green), Math.abs(blue - GOLDEN.blue))
  if (off <= TOLERANCE) return
  const seen = [red, green, blue].map(Math.round).join(' ')
  const expected = Object.values(GOLDEN).join(' ')
  throw new DeviceFault('SelfTestDrift', `Self-test of the warp engine: the chest is ${seen}, expected ${expected}`)
}

function meanOfChest({ width, height, channels, data }: Bitmap): number[] {
  const sums = [0, 0, 0]
  let count = 0
  for (let y = Math.round(CHEST.top * height); y < CHEST.bottom * height; y++) {
    for (let x = Math.round(CHEST.left * width); x < CHEST.right * width; x++) {
      for (let c = 0; c < 3; c++) sums[c] += data[(y * width + x) * channels + c]
      count++
    }
  }
  return sums.map((sum) => sum / count)
}
