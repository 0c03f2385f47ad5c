import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { DrapeError } from '../api/shared/errors.ts'
import { type Bitmap, encodeImage, resizeBitmap } from '../api/shared/image.ts'
import { blendChange } from '../worker/composite/blend.ts'
import type { Engine } from '../worker/engines/engine.ts'
import { createWarpEngine } from '../worker/engines/warp/warp-engine.ts'
import { openModels } from '../worker/inference/models.ts'
import { measureQuality, type Quality } from './quality/measure.ts'
import { type Pair, readPair, readPairNames } from './quality/pair.ts'

// Runs the default engine on rendered figures and garments of which everything is known, and prints how good the results are.
// node scripts/quality.ts [--sheet sheet.png] [folder with persons/, garments/ and pairs.json]

// Of the sheet, in px.
const ROW = 500
const ROW_WIDTH = 1800

const { values, positionals } = parseArgs({ allowPositionals: true, options: { sheet: { type: 'string' } } })
const folder = positionals[0] ?? fileURLToPath(new URL('../test/fixtures', import.meta.url))
const models = await openModels(fileURLToPath(new URL('../worker/models', import.meta.url)))
const engine = createWarpEngine({ models })
const rows: Bitmap[] = []
const all: Quality[] = []
let refused = 0
console.log('person + garment'.padEnd(38), 'covered overlap edges % colour ΔE  truth ΔE  face outside   ms  warnings')
for (const name of await readPairNames(folder)) {
  const pair = await readPair(folder, name)
  const label = `${name.person} + ${name.garment}`.padEnd(38)
  try {
    const { image, quality, ms, warnings } = await dress(pair, engine)
    all.push(quality)
    console.log(label, present(quality), String(ms).padStart(6), ` ${warnings.join(' ')}`)
    if (values.sheet) rows.push(await makeRow(pair, image))
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    refused++
    console.log(label, `refused: ${error.code}, ${error.message}`)
  }
}
await models.release()
console.log('mean'.padEnd(38), present(meanOf(all)), ` refused ${refused} of ${all.length + refused}`)
if (values.sheet) await writeFile(values.sheet, await encodeImage(stack(rows), { format: 'png' }))

async function dress(pair: Pair, { run }: Engine) {
  const { bytes, picture } = pair.garment
  const started = performance.now()
  const result = await run(
    {
      person: pair.figure.picture,
      garment: picture,
      garmentHash: createHash('sha256').update(bytes).digest('hex'),
      category: null,
      options: { seed: 1, mode: 'balanced' },
    },
    { signal: new AbortController().signal, onProgress: () => {} },
  )
  const ms = Math.round(performance.now() - started)
  const image = blendChange({ photo: pair.figure.picture, ...result })
  return { image, quality: measureQuality(pair, { ...result, image }), ms, warnings: result.warnings }
}

function present({ covered, overlap, edges, colour, likeness, face, outside }: Quality): string {
  const number = (value: number | null, digits: number, width: number) =>
    (value === null || Number.isNaN(value) ? '–' : value.toFixed(digits)).padStart(width)
  return `${number(covered, 3, 7)} ${number(overlap, 3, 7)} ${number(edges, 2, 7)} ${number(colour, 1, 9)} ${number(likeness, 1, 9)} ${number(face, 0, 5)} ${number(outside, 0, 7)}`
}

function meanOf(qualities: readonly Quality[]): Quality {
  const mean = (read: (quality: Quality) => number | null) => {
    const known = qualities.map(read).filter((value) => value !== null)
    return known.reduce((sum, value) => sum + value, 0) / known.length
  }
  return {
    covered: mean((q) => q.covered),
    overlap: mean((q) => q.overlap),
    edges: mean((q) => q.edges),
    colour: mean((q) => q.colour),
    likeness: mean((q) => q.likeness),
    face: mean((q) => q.face),
    outside: mean((q) => q.outside),
  }
}

// Person, garment, result and, where there is one, the truth, side by side.
async function makeRow({ figure, garment, truth }: Pair, image: Bitmap): Promise<Bitmap> {
  const cells = await Promise.all(
    [figure.picture, garment.picture, image, ...(truth ? [truth.picture] : [])].map((picture) =>
      resizeBitmap(picture, { width: Math.round((picture.width * ROW) / picture.height), height: ROW }),
    ),
  )
  const row = white(ROW_WIDTH, ROW)
  let left = 0
  for (const cell of cells) {
    paste(row, cell, { x: left, y: 0 })
    left += cell.width + 4
  }
  return row
}

function stack(all: readonly Bitmap[]): Bitmap {
  const sheet = white(ROW_WIDTH, Math.max(1, all.length) * (ROW + 4))
  for (const [i, row] of all.entries()) paste(sheet, row, { x: 0, y: i * (ROW + 4) })
  return sheet
}

function white(width: number, height: number): Bitmap {
  return { width, height, channels: 3, data: new Uint8Array(width * height * 3).fill(255) }
}

function paste(onto: Bitmap, picture: Bitmap, at: { x: number; y: number }): void {
  for (let y = 0; y < picture.height; y++) {
    for (let x = 0; x < picture.width && at.x + x < onto.width; x++) {
      for (let c = 0; c < 3; c++)
        onto.data[((at.y + y) * onto.width + at.x + x) * 3 + c] =
          picture.data[(y * picture.width + x) * picture.channels + c]
    }
  }
}
