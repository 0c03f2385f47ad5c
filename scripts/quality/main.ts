import { writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Bitmap, encodeImage } from '../../api/shared/image/image.ts'
import { createWarpEngine } from '../../worker/engines/warp/warp-engine.ts'
import { openModels } from '../../worker/inference/models.ts'
import { cropError } from './crop-error.ts'
import { dress, type Outcome } from './dress.ts'
import { type Judged, measureQuality } from './measure.ts'
import { readGarment, readPair, readPairNames } from './pair.ts'
import { colourOnPhoto, PHOTOS, readPhoto } from './photos.ts'
import {
  type Measured,
  meanTimes,
  presentHead,
  presentLine,
  presentReport,
  type Report,
  summarize,
  summarizeClasses,
} from './report.ts'
import { arrangeRow, stackRows } from './sheet.ts'

// Runs the default engine on rendered figures and garments with known truth, and on real photos, and prints the quality of the results.
// node scripts/quality/main.ts [--sheet sheet.png] [--results folder] [--json report.json] [folder with persons/, garments/, pairs.json]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sheet: { type: 'string' },
    results: { type: 'string' },
    json: { type: 'string' },
  },
})
const folder = positionals[0] ?? fileURLToPath(new URL('../../test/fixtures', import.meta.url))
const models = await openModels(fileURLToPath(new URL('../../worker/models', import.meta.url)))
const engine = createWarpEngine({ models })
const rows: Bitmap[] = []
const qualities: { shows?: readonly string[]; quality: Measured }[] = []
const timings: Readonly<Record<string, number>>[] = []
const crops = new Map<string, number>()
let refused = 0
const names = await readPairNames(folder)
await warmUp()
console.log(presentHead())
for (const name of names) {
  const pair = await readPair(folder, name)
  const { figure, garment, truth } = pair
  if (!crops.has(name.person)) crops.set(name.person, await cropError(figure, models))
  const outcome = await dress({ engine, models }, { person: figure.bitmap, garment })
  const bitmaps = [figure.bitmap, garment.bitmap]
  await note(name, outcome, { bitmaps, truth: truth?.bitmap, measure: (result) => measureQuality(pair, result) })
}
for (const name of PHOTOS) {
  const [person, garment] = [await readPhoto(name.person), await readGarment(folder, name.garment)]
  const outcome = await dress({ engine, models }, { person, garment })
  const bitmaps = [person, garment.bitmap]
  await note(name, outcome, { bitmaps, measure: (result) => ({ colour: colourOnPhoto(garment, result) }) })
}
await models.release()
const report: Report = {
  engine: `${engine.manifest.name} ${engine.manifest.version}`,
  measured: new Date().toISOString().slice(0, 10),
  hardware: `${availableParallelism()} of ${cpus().length} ${process.arch} cores (${cpus()[0].model.trim()})`,
  results: qualities.length,
  refused,
  figures: summarize([...qualities.map(({ quality }) => quality), ...[...crops.values()].map((crop) => ({ crop }))]),
  classes: summarizeClasses(qualities),
  stages: meanTimes(timings),
}
console.log(`\n${presentReport(report)}`)
if (values.json) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`)
if (values.sheet) await writeFile(values.sheet, await encodeImage(stackRows(rows), { format: 'png' }))

// The first run of a process is slower than all others.
async function warmUp(): Promise<void> {
  const { figure, garment } = await readPair(folder, names[0])
  await dress({ engine, models }, { person: figure.bitmap, garment: { ...garment, bytes: new Uint8Array() } })
}

/** Prints a line, records the measurement, and adds a row to the contact sheet. */
async function note(
  { person, garment, shows }: { person: string; garment: string; shows?: readonly string[] },
  { result, ms, refusal }: Outcome,
  { bitmaps, truth, measure }: { bitmaps: Bitmap[]; truth?: Bitmap; measure: (result: Judged) => Measured },
): Promise<void> {
  const label = `${person} + ${garment}`.padEnd(38)
  if (refusal) {
    refused++
    console.log(label, `refused: ${refusal.code}, ${refusal.message}`)
    return
  }
  const quality = measure(result)
  qualities.push({ shows, quality })
  timings.push(result.timings)
  console.log(`${label}${presentLine(quality)}${String(ms).padStart(10)}  ${result.warnings.join(' ')}`)
  if (values.sheet) rows.push(await arrangeRow([...bitmaps, result.image, ...(truth ? [truth] : [])]))
  if (values.results)
    await writeFile(
      join(values.results, `${person}--${garment}.png`),
      await encodeImage(result.image, { format: 'png' }),
    )
}
