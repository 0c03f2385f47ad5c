import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { encodeImage } from '../../api/shared/image/image.ts'
import { createWarpEngine } from '../../worker/engines/warp/warp-engine.ts'
import { openModels } from '../../worker/inference/models.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'
import { dress } from '../quality/dress.ts'
import { readGarment, readPair, readPairNames } from '../quality/pair.ts'
import { PHOTOS, readPhoto } from '../quality/photos.ts'
import { arrangeRow } from '../quality/sheet.ts'

// Generates the images of docs/gallery.md: person, garment, result and, if available, the truth.
// node scripts/documents/gallery.ts

const HEIGHT = 320
const ROWS = [
  'ada-jeans+tshirt_navy',
  'oli-tee+tee_stripe',
  'ray-white+tshirt_navy',
  'pia-long+tshirt_mustard',
  'cleo-trousers+dress_short',
  'ada-skirt+jeans_blue',
  'cleo-trousers+skirt_flared',
  'dan-jeans+shorts_beige',
  'noa-tee+jeans_blue',
  'kim-long+tshirt_mustard',
  'mia-tee+tshirt_mustard',
  'sue-check+tshirt_mustard',
  'xia-tee+tshirt_mustard',
  'dot-roll+tshirt_mustard',
  'noa-tee+glued_brown',
  'ben-jeans+jacket_open2',
  'cleo-trousers+tank_green',
  'jon-long+open_narrow',
  'ada-long+vest_open',
  'cleo-trousers+coat_open',
]
const PHOTO_ROWS = ['grace-hopper+vneck_red', 'grace-hopper+tshirt_navy']

const fixtures = fileURLToPath(new URL('../../test/fixtures', import.meta.url))
const target = new URL('../../docs/gallery/', import.meta.url)
await mkdir(target, { recursive: true })
const models = await openModels(fileURLToPath(new URL('../../worker/models', import.meta.url)))
const engine = createWarpEngine({ models })
for (const name of await readPairNames(fixtures)) {
  const id = `${name.person}+${name.garment}`
  if (!ROWS.includes(id)) continue
  const { figure, garment, truth } = await readPair(fixtures, name)
  await write(id, { person: figure.bitmap, garment, truth: truth?.bitmap })
}
for (const name of PHOTOS) {
  const id = `${name.person}+${name.garment}`
  if (!PHOTO_ROWS.includes(id)) continue
  await write(id, { person: await readPhoto(name.person), garment: await readGarment(fixtures, name.garment) })
}
await models.release()

async function write(
  id: string,
  { person, garment, truth }: { person: Bitmap; garment: { bytes: Uint8Array; bitmap: Bitmap }; truth?: Bitmap },
): Promise<void> {
  const { result, refusal } = await dress({ engine, models }, { person, garment })
  if (!result) throw refusal
  const row = await arrangeRow([person, garment.bitmap, result.image, ...(truth ? [truth] : [])], HEIGHT)
  const file = new URL(`${id.replace('+', '--').replaceAll('_', '-')}.jpg`, target)
  await writeFile(file, await encodeImage(row, { format: 'jpeg', quality: 80 }))
  console.log(fileURLToPath(file))
}
