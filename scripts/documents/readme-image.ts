import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Bitmap, decodeImage, encodeImage, resizeBitmap } from '../../api/shared/image/image.ts'
import { createEngines } from '../../worker/engines/registry.ts'
import { openModels } from '../../worker/inference/models.ts'
import { tryOn } from '../../worker/job/try-on.ts'
import { readGarment } from '../quality/pair.ts'

// Generates the image at the top of the README: person, garment and result of the default engine, one row each; and the photo and the
// result of its first row for the start page.
// node scripts/documents/readme-image.ts

const ROWS = [
  { person: 'office-man', garment: 'tshirt_mustard' },
  { person: 'standing-man', garment: 'jeans_blue' },
]
const CELL = { width: 320, height: 400 }
const GAP = 8
/** Size of an image of the start page, which has the shape of the first photo. */
const START = { width: 480, height: 610 }

const fixtures = fileURLToPath(new URL('../../test/fixtures', import.meta.url))
const models = await openModels(fileURLToPath(new URL('../../worker/models', import.meta.url)))
const engines = await createEngines(['warp'], { models })
const rows: Bitmap[][] = []
for (const { person, garment } of ROWS) {
  const photo = await readFile(new URL(`../samples/persons/${person}.jpg`, import.meta.url))
  const { bytes: product } = await readGarment(fixtures, garment)
  const result = await dress(photo, product)
  if (rows.length === 0) await Promise.all([writeStart('before', photo), writeStart('after', result)])
  rows.push(await Promise.all([photo, product, result].map(async (bytes) => frame(await decodeImage(bytes)))))
}
const target = new URL('../samples/before-after.jpg', import.meta.url)
await writeFile(target, await encodeImage(arrange(rows), { format: 'jpeg', quality: 88 }))
await models.release()
console.log(fileURLToPath(target))

async function dress(photo: Uint8Array, garment: Uint8Array): Promise<Uint8Array> {
  const { image } = await tryOn(
    {
      engine: 'warp',
      photo,
      crop: 'none',
      garment,
      garmentHash: createHash('sha256').update(garment).digest('hex'),
      product: { title: null, description: null, classifications: null },
      options: { watermark: false, seed: 42, mode: 'balanced', format: 'png', fullResolution: false },
      logo: null,
    },
    { models, engines, signal: new AbortController().signal, onProgress: () => {} },
  )
  return image
}

async function writeStart(name: string, bytes: Uint8Array): Promise<void> {
  const bitmap = await resizeBitmap(await decodeImage(bytes), START)
  const file = new URL(`../../api/http/start-images/${name}.webp`, import.meta.url)
  await writeFile(file, await encodeImage(bitmap, { format: 'webp', quality: 75 }))
}

/** The whole bitmap inside a white cell. */
async function frame(bitmap: Bitmap): Promise<Bitmap> {
  const scale = Math.min(CELL.width / bitmap.width, CELL.height / bitmap.height)
  const size = { width: Math.round(bitmap.width * scale), height: Math.round(bitmap.height * scale) }
  const cell = white(CELL.width, CELL.height)
  const at = { x: (CELL.width - size.width) >> 1, y: (CELL.height - size.height) >> 1 }
  paste(cell, await resizeBitmap(bitmap, size), at)
  return cell
}

function arrange(cells: readonly (readonly Bitmap[])[]): Bitmap {
  const columns = cells[0].length
  const sheet = white(columns * (CELL.width + GAP) - GAP, cells.length * (CELL.height + GAP) - GAP)
  for (const [y, row] of cells.entries()) {
    for (const [x, cell] of row.entries()) paste(sheet, cell, { x: x * (CELL.width + GAP), y: y * (CELL.height + GAP) })
  }
  return sheet
}

function white(width: number, height: number): Bitmap {
  return { width, height, channels: 3, data: new Uint8Array(width * height * 3).fill(255) }
}

function paste(onto: Bitmap, bitmap: Bitmap, at: { x: number; y: number }): void {
  for (let y = 0; y < bitmap.height; y++) {
    for (let x = 0; x < bitmap.width; x++) {
      const from = (y * bitmap.width + x) * bitmap.channels
      const to = ((at.y + y) * onto.width + at.x + x) * 3
      for (let c = 0; c < 3; c++) onto.data[to + c] = bitmap.data[from + c]
    }
  }
}
