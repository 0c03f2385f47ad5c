import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { decodeImage } from '../../api/shared/image/image.ts'
import type { Box } from '../../worker/vision/person/person.ts'
import { maskWhere } from '../../worker/vision/raster/mask.ts'
import type { Bitmap, Mask, Point } from '../../worker/vision/raster/plane.ts'

/** One row of a folder's `pairs.json`: a rendered figure, a rendered garment, and the garment that it replaces. */
export interface PairName {
  readonly person: string
  readonly garment: string
  readonly part: 'top' | 'lower' | 'both'
  /** The same figure rendered in a garment of this cut. */
  readonly truth?: string
  /** Whether the tests use the pair, too. */
  readonly tested?: boolean
  /** Difficulties of the pair; the report summarises each such class. */
  readonly shows?: readonly string[]
}

/** The truth of a rendered figure. */
export interface KnownFigure {
  readonly bitmap: Bitmap
  readonly person: Mask
  readonly parts: Readonly<Record<PairName['part'], Mask>>
  /** Hands from the wrist, and hair; null if the figure's label image does not separate them. */
  readonly hands: Mask | null
  readonly hair: Mask | null
  readonly height: number
  readonly joints: Readonly<Record<string, Joint>>
  /** Landmarks of the worn garments in px; `_l` and `_r` in a name are the left and right of the image. */
  readonly landmarks: Readonly<Record<'top' | 'lower', Readonly<Record<string, Point>>>>
  /** Bounds of the person. */
  readonly box: Box
}

export interface Joint extends Point {
  readonly occluded: boolean
  readonly inside: boolean
}

export interface Pair {
  readonly name: PairName
  readonly figure: KnownFigure
  readonly garment: {
    readonly bytes: Uint8Array
    readonly bitmap: Bitmap
    readonly mask: Mask
    /** Whether the garment is an open jacket, so that clothes under it stay visible. */
    readonly open: boolean
  }
  readonly truth: KnownFigure | null
}

export async function readPairNames(folder: string): Promise<PairName[]> {
  return JSON.parse(await readFile(join(folder, 'pairs.json'), 'utf8'))
}

export async function readPair(folder: string, name: PairName): Promise<Pair> {
  return {
    name,
    figure: await readFigure(join(folder, 'persons', name.person)),
    garment: await readGarment(folder, name.garment),
    truth: name.truth ? await readFigure(join(folder, 'persons', name.truth)) : null,
  }
}

export async function readGarment(folder: string, name: string): Promise<Pair['garment']> {
  const path = join(folder, 'garments', name)
  const { open = false, image } = JSON.parse(await readFile(`${path}.json`, 'utf8'))
  const bytes = await readFile(image ? join(dirname(path), image) : await existing(path))
  const mask = await decodeImage(await readFile(`${path}-mask.png`))
  return {
    bytes,
    bitmap: await decodeImage(bytes),
    mask: maskWhere(mask, (i) => mask.data[i * mask.channels] > 127),
    open,
  }
}

// Grey levels of NAME-parts.png.
const LEVELS = { top: 85, lower: 170, hair: 200, hands: 230, rest: 255 } as const

async function readFigure(path: string): Promise<KnownFigure> {
  const bitmap = await decodeImage(await readFile(await existing(path)))
  const { joints, box, garments, height_px: height, parts: shared } = JSON.parse(await readFile(`${path}.json`, 'utf8'))
  const parts = await decodeImage(await readFile(shared ? join(dirname(path), shared) : `${path}-parts.png`))
  const [left, top, right, bottom] = box
  const levels = (...wanted: number[]) => maskWhere(parts, (i) => wanted.includes(parts.data[i * parts.channels]))
  const known = (level: number) => {
    const mask = levels(level)
    return mask.data.includes(1) ? mask : null
  }
  return {
    bitmap,
    person: levels(...Object.values(LEVELS)),
    hands: known(LEVELS.hands),
    hair: known(LEVELS.hair),
    parts: { top: levels(LEVELS.top), lower: levels(LEVELS.lower), both: levels(LEVELS.top, LEVELS.lower) },
    height,
    joints,
    landmarks: { top: pointsOf(garments?.top), lower: pointsOf(garments?.lower) },
    box: { x: left, y: top, width: right - left, height: bottom - top },
  }
}

function pointsOf(landmarks: Readonly<Record<string, readonly [number, number]>> = {}): Record<string, Point> {
  return Object.fromEntries(Object.entries(landmarks).map(([name, [x, y]]) => [name, { x, y }]))
}

async function existing(path: string): Promise<string> {
  const jpeg = `${path}.jpg`
  return access(jpeg).then(
    () => jpeg,
    () => `${path}.png`,
  )
}
