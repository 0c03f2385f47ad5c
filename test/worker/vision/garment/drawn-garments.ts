import { createRandom } from '../../../../worker/vision/raster/clusters.ts'
import { gaussianBlur } from '../../../../worker/vision/raster/filter.ts'
import { threshold } from '../../../../worker/vision/raster/mask.ts'
import { type Bitmap, createPlane, type Mask, type Plane, type Point } from '../../../../worker/vision/raster/plane.ts'
import { coverPolygon } from '../../../../worker/vision/raster/polygon.ts'

type Rgb = readonly [number, number, number]

export interface Drawing {
  /** Half outline from the neck corner to the middle of the hem, as shares of the image's width from its middle. */
  readonly cut: Cut
  readonly colour: Rgb
  readonly background: Rgb
  /** Lightness of the background at the lower right over that at the upper left. */
  readonly falloff?: number
  /** How dark the soft shadow beside the garment is, 0 to 1. */
  readonly shadow?: number
  /** Standard deviation of the noise in grey levels. */
  readonly noise?: number
  /** Counter-clockwise turn in degrees. */
  readonly turn?: number
  /** Second colour of horizontal stripes. */
  readonly stripes?: Rgb
  readonly size?: number
}

export interface DrawnGarment {
  readonly bitmap: Bitmap
  /** The same garment alone: RGBA with straight alpha. */
  readonly transparent: Bitmap
  readonly mask: Mask
  readonly height: number
  readonly landmarks: ReadonlyMap<string, Point>
}

interface Cut {
  readonly neck: Point
  /** Lowest points of the front and the back neckline. */
  readonly front: number
  readonly back: number
  readonly vNeck?: boolean
  /** Named corners from the shoulder to the hem's corner. */
  readonly corners: readonly (readonly [name: string, x: number, y: number])[]
}

const NECK = { x: 0.09, y: 0.16 }

export const CUTS = {
  tee: {
    neck: NECK,
    front: 0.26,
    back: 0.19,
    corners: [
      ['shoulder', 0.235, 0.21],
      ['sleeve_out', 0.41, 0.34],
      ['sleeve_in', 0.33, 0.43],
      ['armpit', 0.27, 0.38],
      ['hem', 0.265, 0.86],
    ],
  },
  vNeck: {
    neck: NECK,
    front: 0.34,
    back: 0.185,
    vNeck: true,
    corners: [
      ['shoulder', 0.235, 0.21],
      ['sleeve_out', 0.41, 0.34],
      ['sleeve_in', 0.33, 0.43],
      ['armpit', 0.27, 0.38],
      ['hem', 0.265, 0.86],
    ],
  },
  boatNeck: {
    neck: { x: 0.22, y: 0.16 },
    front: 0.225,
    back: 0.175,
    corners: [
      ['shoulder', 0.26, 0.18],
      ['sleeve_out', 0.44, 0.6],
      ['sleeve_in', 0.36, 0.62],
      ['armpit', 0.25, 0.38],
      ['hem', 0.25, 0.86],
    ],
  },
  longSleeve: {
    neck: NECK,
    front: 0.25,
    back: 0.19,
    corners: [
      ['shoulder', 0.23, 0.2],
      ['sleeve_out', 0.46, 0.74],
      ['sleeve_in', 0.38, 0.78],
      ['armpit', 0.265, 0.39],
      ['hem', 0.26, 0.85],
    ],
  },
  sleeveless: {
    neck: { x: 0.1, y: 0.14 },
    front: 0.27,
    back: 0.19,
    corners: [
      ['shoulder', 0.17, 0.155],
      ['', 0.165, 0.25],
      ['', 0.19, 0.33],
      ['armpit', 0.26, 0.37],
      ['hem', 0.27, 0.88],
    ],
  },
  dress: {
    neck: { x: 0.07, y: 0.06 },
    front: 0.14,
    back: 0.08,
    corners: [
      ['shoulder', 0.13, 0.075],
      ['', 0.12, 0.15],
      ['', 0.14, 0.2],
      ['armpit', 0.19, 0.23],
      ['', 0.16, 0.4],
      ['hem', 0.29, 0.94],
    ],
  },
} satisfies Record<string, Cut>

/** A flat-lay product photo drawn from polygons, with its ground truth. */
export function drawGarment(drawing: Drawing): DrawnGarment {
  const size = drawing.size ?? 700
  const { cut } = drawing
  const place = placer(size, drawing.turn ?? 0)
  const body = [...collar(cut, cut.back), ...sideOf(cut, 1), ...sideOf(cut, -1).reverse()].map(place)
  const opening = [...collar(cut, cut.front), ...collar(cut, cut.back).reverse()].map(place)
  const cover = coverPolygon({ width: size, height: size }, body)
  const inside = coverPolygon({ width: size, height: size }, opening)
  const landmarks = new Map<string, Point>([['neck_mid', place({ x: 0, y: cut.front })]])
  for (const [side, mark] of [
    [-1, 'l'],
    [1, 'r'],
  ] as const) {
    landmarks.set(`neck_${mark}`, place({ x: side * cut.neck.x, y: cut.neck.y }))
    for (const [name, x, y] of cut.corners) if (name) landmarks.set(`${name}_${mark}`, place({ x: side * x, y }))
  }
  const paint = cloth(drawing, { cover, inside, size })
  return { ...paint, mask: threshold(cover, 0.5), height: heightOf(body), landmarks }
}

function placer(size: number, degrees: number): (point: Point) => Point {
  const cos = Math.cos((degrees * Math.PI) / 180)
  const sin = Math.sin((degrees * Math.PI) / 180)
  return ({ x, y }) => ({
    x: size * (0.5 + x * cos + (y - 0.5) * sin) - 0.5,
    y: size * (0.5 - x * sin + (y - 0.5) * cos) - 0.5,
  })
}

// From the left to the right neck corner.
function collar({ neck, vNeck, front }: Cut, depth: number): Point[] {
  const power = vNeck && depth === front ? 1 : 2.6
  return Array.from({ length: 41 }, (_, i) => {
    const t = i / 20 - 1
    return { x: t * neck.x, y: neck.y + (depth - neck.y) * (1 - Math.abs(t) ** power) }
  })
}

function sideOf({ corners }: Cut, side: number): Point[] {
  return corners.map(([, x, y]) => ({ x: side * x, y }))
}

function cloth(
  { colour, background, stripes, falloff = 1, shadow = 0, noise = 0 }: Drawing,
  { cover, inside, size }: { cover: Plane; inside: Plane; size: number },
): { bitmap: Bitmap; transparent: Bitmap } {
  const dark = gaussianBlur(shifted(cover, Math.round(0.012 * size)), 0.012 * size)
  const rounded = gaussianBlur(cover, 0.006 * size)
  const random = createRandom(11)
  const grain = () => noise * (random() + random() + random() + random() - 2) * Math.sqrt(3)
  const rgb = new Uint8Array(size * size * 3)
  const rgba = new Uint8Array(size * size * 4)
  for (let i = 0; i < size * size; i++) {
    const x = i % size
    const y = Math.floor(i / size)
    const folds = 0.96 + 0.025 * Math.sin(x / 37 + 1.3 * Math.sin(y / 51)) + 0.015 * Math.sin(y / 23)
    // Cloth turns away from the light where it ends.
    const bend = 1 - 0.12 * (1 - rounded.data[i])
    const light = 1 + (falloff - 1) * ((x + y) / (2 * size))
    const own = stripes && Math.floor(y / (0.03 * size)) % 2 === 0 ? stripes : colour
    for (let c = 0; c < 3; c++) {
      const front = own[c] * folds * bend
      const garment = front * (1 - 0.3 * inside.data[i])
      const behind = background[c] * (1 - shadow * dark.data[i])
      const value = (garment * cover.data[i] + behind * (1 - cover.data[i])) * light + grain()
      rgb[3 * i + c] = Math.min(255, Math.max(0, Math.round(value)))
      rgba[4 * i + c] = Math.min(255, Math.max(0, Math.round(garment)))
    }
    rgba[4 * i + 3] = Math.round(255 * cover.data[i])
  }
  return {
    bitmap: { width: size, height: size, channels: 3, data: rgb },
    transparent: { width: size, height: size, channels: 4, data: rgba },
  }
}

function shifted(plane: Plane, by: number): Plane {
  const out = createPlane(plane)
  for (let y = by; y < plane.height; y++) {
    for (let x = by; x < plane.width; x++) out.data[y * plane.width + x] = plane.data[(y - by) * plane.width + x - by]
  }
  return out
}

function heightOf(points: readonly Point[]): number {
  const ys = points.map((p) => p.y)
  return Math.max(...ys) - Math.min(...ys)
}
