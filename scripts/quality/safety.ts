import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { SafetyPolicy } from '../../api/shared/generations/generation.ts'
import { decodeImage } from '../../api/shared/image/image.ts'
import { createWarpEngine } from '../../worker/engines/warp/warp-engine.ts'
import { openModels } from '../../worker/inference/models.ts'
import { AGE_MODEL, estimateAge } from '../../worker/outputs/safety/age.ts'
import { measureBareTrunk } from '../../worker/outputs/safety/bare-trunk.ts'
import { judgeInput, judgeResult } from '../../worker/outputs/safety/check-images.ts'
import { classifyExposure, EXPOSURE_MODEL } from '../../worker/outputs/safety/exposure.ts'
import { findPerson } from '../../worker/vision/person/find-person.ts'
import { onWhite } from '../../worker/vision/raster/bytes.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'
import { dress } from './dress.ts'

// Counts how often the safety check refuses images that it should not, and measures its time.
// node scripts/quality/safety.ts [--products 3] folder…
// Each folder contains persons/ and garments/ with harmless images. Every person is dressed in some of the garments, in rotation.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { products: { type: 'string', default: '3' } },
})
if (positionals.length === 0) {
  console.error('Usage: scripts/bench safety [--products 3] folder…')
  process.exit(2)
}
const LEVELS = ['standard', 'strict'] as const
const models = await openModels(fileURLToPath(new URL('../../worker/models', import.meta.url)))
const engine = createWarpEngine({ models })
const judge = (level: SafetyPolicy['level']) => ({ models, policy: { level, allowsSwimwear: false } })
const refusals = new Map<string, string[]>()
const times: number[] = []
const [persons, garments] = await Promise.all(['persons', 'garments'].map(listImages))
const nude: number[] = []
let readableFaces = 0
for (const path of persons) await judgeFile(path, 'person')
for (const path of garments) await judgeFile(path, 'product')
const bared: number[] = []
let results = 0
for (const [i, path] of persons.entries()) {
  const person = await decodeImage(await readFile(path))
  for (let k = 0; k < Number(values.products); k++)
    await judgePair(path, person, garments[((i * Number(values.products) + k) * 13) % garments.length])
}
engine.release?.()
await models.release()
console.log(
  `${persons.length} photos, ${garments.length} product images, ${results} results of ${engine.manifest.name}`,
)
for (const level of LEVELS)
  for (const what of ['person', 'product', 'result']) {
    const refused = refusals.get(`${level} ${what}`) ?? []
    const all = { person: persons.length, product: garments.length, result: results }[what] ?? 0
    console.log(`${level.padEnd(9)} ${what.padEnd(8)} ${refused.length} of ${all} refused`)
    for (const line of refused) console.log(`  ${line}`)
  }
console.log(`${readableFaces} photos show a face whose age can be estimated`)
console.log(`highest probability of nudity: ${highest(nude)}`)
console.log(`largest shares of the trunk that a result bared: ${highest(bared)}`)
console.log(`time of one image: median ${Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)])} ms`)

async function listImages(kind: string): Promise<string[]> {
  const lists = positionals.map(async (folder) => {
    const names = await readdir(join(folder, kind), { recursive: true })
    return names
      .filter((name) => /(?<!-mask)\.(jpe?g|png|webp)$/i.test(name))
      .sort()
      .map((name) => join(folder, kind, name))
  })
  return (await Promise.all(lists)).flat()
}

async function judgeFile(path: string, image: 'person' | 'product'): Promise<void> {
  const bitmap = await decodeImage(await readFile(path))
  const started = performance.now()
  const exposure = await classifyExposure(onWhite(bitmap), models.session(EXPOSURE_MODEL))
  times.push(performance.now() - started)
  nude.push(exposure.nude)
  const person = (image === 'person' && (await findPerson(bitmap, models, { count: true }))) || undefined
  if (person && (await estimateAge(bitmap, person, models.session(AGE_MODEL))) !== null) readableFaces++
  for (const level of LEVELS)
    await note(`${level} ${image}`, basename(path), judgeInput({ image, bitmap, person }, judge(level)))
}

async function judgePair(path: string, photo: Bitmap, garment: string): Promise<void> {
  const bytes = await readFile(garment)
  const bitmap = await decodeImage(bytes)
  const { result } = await dress({ engine, models }, { person: photo, garment: { bytes, bitmap } })
  if (result === null) return
  results++
  const person = (await findPerson(photo, models)) ?? undefined
  const { image, change } = result
  bared.push((person && measureBareTrunk({ photo, person, garment: bitmap, image, change })?.bared) ?? 0)
  const judged = { result: image, photo, person, garment: bitmap, drawn: { image, change } }
  for (const level of LEVELS)
    await note(`${level} result`, `${basename(path)} with ${basename(garment)}`, judgeResult(judged, judge(level)))
}

async function note(key: string, name: string, work: Promise<unknown>): Promise<void> {
  await work.catch((error) => {
    if (!(error instanceof DrapeError)) throw error
    refusals.set(key, [...(refusals.get(key) ?? []), `${name}: ${error.message}`])
  })
}

function highest(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => b - a)
  return sorted
    .slice(0, 5)
    .map((value) => value.toFixed(2))
    .join(' ')
}
