import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import { categoryFromWords } from '../../api/shared/generations/garment-category.ts'
import { decodeImage, encodeImage } from '../../api/shared/image/image.ts'
import { createWarpEngine } from '../../worker/engines/warp/warp-engine.ts'
import { openModels } from '../../worker/inference/models.ts'
import { tryOn } from '../../worker/job/try-on.ts'
import { categoryOfOutline } from '../../worker/vision/garment/classify.ts'
import { runGarmentModels } from '../../worker/vision/garment/garment-models.ts'
import { LONGEST, prepareProduct } from '../../worker/vision/garment/prepare-product.ts'
import { findPerson } from '../../worker/vision/person/find-person.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../worker/vision/raster/polygon.ts'
import { arrangeRow } from '../quality/sheet.ts'

// Tries real product photos on real people, without product texts, and counts failures.
// Results are rated by eye with the scale of scripts/photos/SCALE.md.
// node scripts/photos/main.ts [--products 3] [--results folder] folder | --samples [--results folder]
// The folder contains persons/ and garments/tops, garments/bottoms and garments/one-pieces.
// --samples uses the images of the playground and the README instead, every person with every product.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    products: { type: 'string', default: '3' },
    results: { type: 'string' },
    samples: { type: 'boolean' },
  },
})
const [folder] = positionals
if (!folder && !values.samples) {
  console.error('Usage: scripts/bench photos [--products 3] [--results folder] folder | --samples [--results folder]')
  process.exit(2)
}

const models = await openModels(fileURLToPath(new URL('../../worker/models', import.meta.url)))
const engine = createWarpEngine({ models })
const { persons, products } = folder ? await listFolder(folder) : await listSamples()
await judgeCategories(products)
await judgePairs(persons, products, folder ? Number(values.products) : products.length)
await models.release()
engine.release?.()

interface ImageFile {
  readonly path: string
  readonly category: string
}

async function listFolder(folder: string) {
  const garments = await Promise.all(
    ['tops', 'bottoms', 'one-pieces'].map((category) => listImages(join(folder, 'garments', category), category)),
  )
  return { persons: await listImages(join(folder, 'persons'), ''), products: garments.flat() }
}

async function listSamples() {
  const samples = fileURLToPath(new URL('../samples', import.meta.url))
  const products = (await listImages(join(samples, 'garments'), '')).map(({ path }) => {
    const title = basename(path).replace(/\W/g, ' ')
    return { path, category: categoryFromWords({ title, description: null, classifications: null }) ?? 'other' }
  })
  return { persons: await listImages(join(samples, 'persons'), ''), products }
}

async function listImages(place: string, category: string): Promise<ImageFile[]> {
  const names = (await readdir(place)).filter((name) => /\.(jpe?g|png|webp)$/i.test(name))
  return names.sort().map((name) => ({ path: join(place, name), category }))
}

async function judgeCategories(products: readonly ImageFile[]): Promise<void> {
  const counts = new Map<string, number>()
  const wrong: string[] = []
  for (const { path, category } of products) {
    const found = await categoryOf(path)
    count(counts, `${category.padEnd(10)} → ${found}`)
    if (found !== category) wrong.push(`  ${basename(path)}: ${category}, taken for ${found}`)
  }
  console.log(`\n${products.length} products without a text`)
  for (const [line, n] of [...counts].sort()) console.log(`  ${line.padEnd(28)} ${n}`)
  if (wrong.length > 0) console.log(`wrong category: ${share(wrong.length, products.length)}\n${wrong.join('\n')}`)
}

async function categoryOf(path: string): Promise<string> {
  try {
    const options = { category: null, longest: LONGEST }
    const { kind } = await prepareProduct(await decodeImage(await readFile(path)), options, runGarmentModels(models))
    return categoryOfOutline(kind)
  } catch (error) {
    if (error instanceof DrapeError) return 'refused'
    throw error
  }
}

// Every person is combined with some of the products, in rotation.
async function judgePairs(people: readonly ImageFile[], products: readonly ImageFile[], each: number): Promise<void> {
  const refusals = new Map<string, string[]>()
  const warnings = new Map<string, number>()
  const qualities: { pair: string; quality: number }[] = []
  let [pairs, refused, faces, changed, bared] = [0, 0, 0, 0, 0]
  for (const person of people) {
    for (let k = 0; k < each; k++) {
      const product = products[(pairs++ * 13) % products.length]
      const photo = await readFile(person.path)
      const result = await dress(photo, await readFile(product.path))
      if (result instanceof DrapeError) {
        refused++
        refusals.set(result.message, [...(refusals.get(result.message) ?? []), pairName([person, product])])
        continue
      }
      const before = await decodeImage(photo)
      const after = await decodeImage(Buffer.from(result.image))
      const pixels = await facePixels(before, after)
      if (pixels !== null) faces++
      changed += pixels ?? 0
      for (const warning of result.warnings) count(warnings, warning)
      if (result.quality !== null) qualities.push({ pair: pairName([person, product]), quality: result.quality })
      if (product.category === 'tops' && result.category !== 'tops' && result.category !== 'outerwear') bared++
      if (values.results)
        await keep(values.results, [person, product], [before, await decodeImage(await readFile(product.path)), after])
    }
  }
  console.log(`\n${pairs} pairs, ${share(refused, pairs)} refused`)
  for (const [message, names] of refusals)
    console.log(`  ${String(names.length).padStart(4)}  ${message}\n        ${names.join('\n        ')}`)
  console.log(`face pixels changed: ${changed}, on ${faces} results with a face`)
  console.log(`tops drawn as something else: ${bared}`)
  presentQualities(qualities)
  for (const [code, n] of warnings) console.log(`  ${String(n).padStart(4)}  ${code}`)
}

function presentQualities(qualities: readonly { pair: string; quality: number }[]): void {
  const sorted = qualities.toSorted((a, b) => a.quality - b.quality)
  const middle = sorted[sorted.length >> 1]
  if (!middle) return
  console.log(`quality: median ${middle.quality.toFixed(2)}; the lowest`)
  for (const { pair, quality } of sorted.slice(0, 10)) console.log(`  ${quality.toFixed(2)}  ${pair}`)
}

async function dress(photo: Buffer, garment: Buffer) {
  const request = {
    engine: 'warp',
    photo,
    garment,
    garmentHash: createHash('sha256').update(garment).digest('hex'),
    product: { title: null, description: null, classifications: null },
    crop: 'none' as const,
    logo: null,
    options: { seed: 42, mode: 'balanced', format: 'png', fullResolution: false, watermark: false },
  } as const
  const context = {
    models,
    engines: new Map([['warp', engine]]),
    signal: AbortSignal.timeout(600_000),
    onProgress: () => {},
  }
  return tryOn(request, context).catch((error: unknown) => {
    if (error instanceof DrapeError) return error
    throw error
  })
}

async function facePixels(before: Bitmap, after: Bitmap): Promise<number | null> {
  const face = (await findPerson(before, models))?.face
  if (!face) return null
  const inside = fillPolygon(before, face)
  const differs = (i: number) =>
    [0, 1, 2].some((c) => before.data[i * before.channels + c] !== after.data[i * after.channels + c])
  return inside.data.reduce((sum, set, i) => sum + (set === 1 && differs(i) ? 1 : 0), 0)
}

async function keep(place: string, names: readonly ImageFile[], bitmaps: readonly Bitmap[]): Promise<void> {
  await mkdir(place, { recursive: true })
  await writeFile(
    join(place, `${pairName(names)}.png`),
    await encodeImage(await arrangeRow(bitmaps, 720), { format: 'png' }),
  )
}

function pairName(names: readonly ImageFile[]): string {
  return names.map(({ path }) => basename(path).replace(/\.\w+$/, '')).join(' + ')
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function share(part: number, whole: number): string {
  return `${part} of ${whole} (${((100 * part) / Math.max(1, whole)).toFixed(1)} %)`
}
