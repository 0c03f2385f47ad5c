import { readFile } from 'node:fs/promises'
import { decodeImage } from '../../api/shared/image/image.ts'
import { subset } from '../../worker/vision/raster/mask.ts'
import { erode } from '../../worker/vision/raster/morphology.ts'
import type { Bitmap } from '../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../worker/vision/raster/polygon.ts'
import { distance } from '../../worker/vision/raster/vector.ts'
import { type Judged, medianLab } from './measure.ts'
import type { Pair } from './pair.ts'

/** Real photos without a known truth, with rendered garments. */
export const PHOTOS: readonly { person: string; garment: string }[] = [
  { person: 'grace-hopper', garment: 'vneck_red' },
  { person: 'grace-hopper', garment: 'tshirt_navy' },
  { person: 'grace-hopper', garment: 'longsleeve_grey' },
  { person: 'grace-hopper', garment: 'jeans_blue' },
  { person: 'astronaut', garment: 'tshirt_mustard' },
  { person: 'astronaut', garment: 'tshirt_navy' },
  { person: 'astronaut', garment: 'longsleeve_grey' },
  { person: 'photographer', garment: 'tshirt_mustard' },
]

const SAMPLES = new URL('../samples/persons/', import.meta.url)

export async function readPhoto(name: string): Promise<Bitmap> {
  return decodeImage(await readFile(new URL(`${name}.jpg`, SAMPLES)))
}

/**
 * ΔE (CIE 1976) between the product's median colour and that between the garment's landmarks on the person; null with too few landmarks.
 */
export function colourOnPhoto(
  { bitmap, mask }: Pair['garment'],
  { image, change, landmarks = {} }: Judged,
): number | null {
  const corners = ['shoulder_l', 'shoulder_r', 'armpit_r', 'hem_r', 'hem_l', 'armpit_l'].map((name) => landmarks[name])
  if (corners.some((corner) => corner === undefined)) return null
  const chest = fillPolygon(image, corners)
  const inside = erode(chest, 0.06 * distance(corners[0], corners[1]))
  const worn = subset(inside, (i) => change.data[i] === 1)
  const [a, b] = [medianLab(bitmap, erode(mask, 0.02 * mask.height)), medianLab(image, worn)]
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}
