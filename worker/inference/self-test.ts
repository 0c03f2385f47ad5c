import { readFile } from 'node:fs/promises'
import { type Bitmap, decodeImage } from '../../api/shared/image.ts'
import type { Engine, EngineProof } from '../engines/engine.ts'
import { tryOn } from '../try-on.ts'
import { DeviceFault } from './device-fault.ts'
import type { Models } from './models.ts'

/** Mean sRGB of the chest that the warp engine makes of the two pictures beside this file, on any provider within the tolerance. */
const GOLDEN = { red: 160, green: 128, blue: 24 }
const TOLERANCE = 12
/** Shares of the picture's width and height. */
const CHEST = { left: 0.4, right: 0.6, top: 0.42, bottom: 0.62 }
/** The second run meets code that the first one has made hot. */
const RUNS = 2
/** What the garment is known as, beside the number of the run. */
const OWN_GARMENT = 'self-test'

/**
 * Runs the warp engine on a known pair before any caller's job: what comes out has to be the known result, and the first job finds
 * everything loaded and compiled. Engines that have a test of their own run it, and what it has seen is returned by their names.
 * @throws Error that says what was wrong; `DeviceFault` when the result is not the known one
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
  engines.get('warp')?.kept?.forget(OWN_GARMENT)
  return proofs
}

async function tryWarp({ models, engines }: { models: Models; engines: ReadonlyMap<string, Engine> }): Promise<void> {
  const [photo, garment] = await Promise.all(['person', 'garment'].map(readPicture))
  for (let run = 0; run < RUNS; run++) {
    const { image } = await tryOn(
      {
        engine: 'warp',
        photo,
        crop: 'auto',
        garment,
        garmentHash: `${OWN_GARMENT} ${run}`,
        product: { title: null, description: null, classifications: null },
        options: { watermark: false, seed: 1, mode: 'balanced', format: 'jpeg', fullResolution: false },
        logo: null,
      },
      { models, engines, signal: new AbortController().signal, onProgress: () => {} },
    )
    checkChest(await decodeImage(image))
  }
}

function readPicture(name: string): Promise<Buffer> {
  return readFile(new URL(`self-test/${name}.jpg`, import.meta.url))
}

function checkChest(picture: Bitmap): void {
  const [red, green, blue] = meanOfChest(picture)
  const off = Math.max(Math.abs(red - GOLDEN.red), Math.abs(green - GOLDEN.green), Math.abs(blue - GOLDEN.blue))
  if (off <= TOLERANCE) return
  const seen = [red, green, blue].map(Math.round).join(' ')
  const expected = Object.values(GOLDEN).join(' ')
  throw new DeviceFault('SelfTestDrift', `Self-test of the warp engine: the chest is ${seen} and should be ${expected}`)
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
