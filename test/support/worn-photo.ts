import { type Bitmap, decodeImage } from '../../api/shared/image/image.ts'
import { readSample } from './drape.ts'

/** Colours that the graph of `fixtures/parser` labels as top and pants. */
const COLOURS = { top: [230, 30, 30], pants: [20, 200, 30] } as const
/** Their places on the person of the sample, in px. */
const PLACES = {
  top: { x: 270, y: 230, width: 160, height: 190 },
  pants: { x: 270, y: 440, width: 160, height: 320 },
}
type Part = keyof typeof COLOURS

/** A grey photo of a standing person, 700 × 875, with parts in the colours that the graph of `fixtures/parser` knows. */
export async function wornPhoto(parts: readonly Part[]): Promise<Bitmap> {
  const { width, height, channels, data } = await decodeImage(await readSample('persons/akimbo-full.jpg'))
  const grey = new Uint8Array(width * height * 3)
  for (let i = 0, from = 0; from < data.length; i += 3, from += channels)
    grey.fill(Math.round((data[from] + data[from + 1] + data[from + 2]) / 3), i, i + 3)
  const photo: Bitmap = { width, height, channels: 3, data: grey }
  for (const part of parts) paint(photo, PLACES[part], COLOURS[part])
  return photo
}

export function paint(
  { width, data }: Bitmap,
  place: { x: number; y: number; width: number; height: number },
  colour: readonly number[],
): void {
  for (let y = place.y; y < place.y + place.height; y++)
    for (let x = place.x; x < place.x + place.width; x++) data.set(colour, (y * width + x) * 3)
}
