import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { encodeImage } from '../../api/shared/image/image.ts'
import { createWarpEngine } from '../../worker/engines/warp/warp-engine.ts'
import { openModels } from '../../worker/inference/models.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'
import { dress } from '../quality/dress.ts'
import { readGarment, readPair, readPairNames } from '../quality/pair.ts'
import { readPhoto } from '../quality/photos.ts'
import { arrangeRow } from '../quality/sheet.ts'

// Generates the images of docs/gallery.md: person, garment, result and, if available, the truth.
// node scripts/documents/gallery.ts

const HEIGHT = 320
const ROWS = [
  'pia-long+tshirt_mustard',
  'ada-skirt+jeans_blue',
  'dan-jeans+shorts_beige',
  'kim-long+tshirt_mustard',
  'mia-tee+tshirt_mustard',
  'sue-check+tshirt_mustard',
  'xia-tee+tshirt_mustard',
  'dot-roll+tshirt_mustard',
  'noa-tee+glued_brown',
  'cleo-trousers+tank_green',
  'jon-long+open_narrow',
  'cleo-trousers+coat_open',
]
const PHOTO_ROWS = [
  'office-man+tshirt_navy',
  'office-man+vest_open',
  'standing-man+longsleeve_grey',
  'standing-man+jacket_open2',
  'terrace-woman+vneck_red',
  'long-hair-woman+tshirt_mustard',
  'garden-woman+dress_short',
  'garden-woman+skirt_flared',
]

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
for (const id of PHOTO_ROWS) {
  const [person, garment] = id.split('+')
  await write(id, { person: await readPhoto(person), garment: await readGarment(fixtures, garment) })
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
