import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import { maskWhere, threshold } from '../../../../worker/vision/raster/mask.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Mask,
  mapChannels,
  maskToPlane,
  type Point,
} from '../../../../worker/vision/raster/plane.ts'
import {
  type Affine,
  applyAffine,
  invertAffine,
  sampleBilinear,
  warpAffinePlane,
} from '../../../../worker/vision/raster/sample.ts'

const FOLDER = join(import.meta.dirname, '../../../fixtures/garments')

export interface KnownGarment {
  readonly bitmap: Bitmap
  readonly mask: Mask
  readonly height: number
  readonly landmarks: ReadonlyMap<string, Point>
}

/** A rendered garment with its true mask and landmarks. */
export async function readGarment(name: string): Promise<KnownGarment> {
  const known: { image?: string; box: number[]; landmarks: Record<string, [number, number]> } = JSON.parse(
    await readFile(join(FOLDER, `${name}.json`), 'utf8'),
  )
  const bitmap = await decodeImage(await readFile(join(FOLDER, known.image ?? `${name}.jpg`)))
  const drawn = await decodeImage(await readFile(join(FOLDER, `${name}-mask.png`)))
  return {
    bitmap,
    mask: maskWhere(bitmap, (i) => drawn.data[i * drawn.channels] > 127),
    height: known.box[3] - known.box[1],
    landmarks: new Map(Object.entries(known.landmarks).map(([key, [x, y]]) => [key, { x, y }])),
  }
}

/** The same garment turned counter-clockwise on a background continued by its own border, and three quarters as large. */
export function turnGarment({ bitmap, mask, landmarks, height }: KnownGarment, degrees: number): KnownGarment {
  const side = Math.max(bitmap.width, bitmap.height)
  const cos = Math.cos((degrees * Math.PI) / 180) / 0.75
  const sin = Math.sin((degrees * Math.PI) / 180) / 0.75
  const [x, y] = [(bitmap.width - 1) / 2, (bitmap.height - 1) / 2]
  const middle = (side - 1) / 2
  const toImage: Affine = [cos, -sin, x - (cos - sin) * middle, sin, cos, y - (sin + cos) * middle]
  const size = { width: side, height: side }
  const turned = mapChannels(bitmapToColours(bitmap), (plane) => {
    const at = (i: number) => applyAffine(toImage, { x: i % side, y: Math.floor(i / side) })
    return {
      ...size,
      data: Float32Array.from({ length: side * side }, (_, i) => sampleBilinear(plane, at(i).x, at(i).y)),
    }
  })
  const fromBitmap = invertAffine(toImage)
  return {
    bitmap: { ...size, channels: turned.channels, data: Uint8Array.from(turned.data, Math.round) },
    mask: threshold(warpAffinePlane(maskToPlane(mask), toImage, size), 0.5),
    height: height * 0.75,
    landmarks: new Map([...landmarks].map(([name, point]) => [name, applyAffine(fromBitmap, point)])),
  }
}

/** Intersection over union of a mask and the pixels where `alpha` is above one half. */
export function overlap(mask: Mask, alpha: { readonly data: ArrayLike<number> }): number {
  let both = 0
  let either = 0
  for (let i = 0; i < mask.data.length; i++) {
    const found = alpha.data[i] > 0.5
    if (found && mask.data[i]) both++
    if (found || mask.data[i]) either++
  }
  return both / either
}
