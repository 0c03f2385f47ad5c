import { box } from './heic-file.ts'
import { findHeicBox } from './heic-images.ts'

const SIDE = 31
/** Bytes of size and type of a box. */
const BOX_HEADER = 8

/**
 * A small file that takes long to decode: a grid (ISO/IEC 23008-12, 6.6.2.3) of 31 × 31 tiles that are all the coded image of
 * `file`, while the image to show is no larger than one tile.
 */
export function endlessHeic(file: Buffer): Buffer {
  return gridHeic(file, { columns: SIDE, rows: SIDE, shown: partOf(file, 'ispe').subarray(12), copies: 1 })
}

/** A large file that shows the image of `file`, of `width` × `height` px, in each of its tiles; each has its own bytes, as cameras write them. */
export function tiledHeic(
  file: Buffer,
  { width, height, columns, rows, shown, transformations }: Extent & Tiles & Shown,
): Buffer {
  const size = shown ?? { width: width * columns, height: height * rows }
  return gridHeic(file, {
    columns,
    rows,
    transformations,
    copies: columns * rows,
    shown: numbers(4, size.width, size.height),
  })
}

/** Rotates by a multiple of 90 degrees, counterclockwise. */
export function rotation(degrees: number): Buffer {
  return box('irot', numbers(1, degrees / 90))
}

/** Exchanges left and right, or top and bottom. */
export function mirroring(axis: 'left-right' | 'top-bottom'): Buffer {
  return box('imir', numbers(1, axis === 'left-right' ? 1 : 0))
}

/** Shows a rectangle of this size, whose centre is moved by `x` and `y` from the centre of the image. Each is a fraction. */
export function crop(fractions: Readonly<Record<'width' | 'height' | 'x' | 'y', readonly [number, number]>>): Buffer {
  const { width, height, x, y } = fractions
  return box('clap', Buffer.concat([width, height, x, y].map(([top, bottom]) => numbers(4, top >>> 0, bottom))))
}

interface Extent {
  readonly width: number
  readonly height: number
}

interface Shown {
  /** Size of the image; its tiles may extend beyond it. */
  readonly shown?: Extent
  /** Properties that turn or crop the image, in their order. */
  readonly transformations?: readonly Buffer[]
}

interface Tiles {
  readonly columns: number
  readonly rows: number
}

function partOf(file: Buffer, type: string): Buffer {
  const { start, end } = findHeicBox(file, type)
  return file.subarray(start, end)
}

interface Grid extends Tiles, Pick<Shown, 'transformations'> {
  /** Width and height of the image to show, as the file writes them. */
  readonly shown: Buffer
  /** Copies of the coded image: shared by all tiles, or one per tile. */
  readonly copies: number
}

function gridHeic(file: Buffer, { columns, rows, shown, copies, transformations = [] }: Grid): Buffer {
  const [hvcc, ispe] = ['hvcC', 'ispe'].map((type) => partOf(file, type))
  const coded = partOf(file, 'mdat').subarray(BOX_HEADER)
  const media = box('mdat', ...Array.from({ length: copies }, () => coded))
  const grid = Buffer.concat([numbers(1, 0, 1, rows - 1, columns - 1), shown])
  const tiles = Array.from({ length: columns * rows }, (_, i) => i + 2)
  const shownBy = [3, ...transformations.map((_, i) => 0x84 + i)]
  const properties = [associations(1, ...shownBy), ...tiles.map((id) => associations(id, 0x81, 2))]
  const withCodedAt = (start: number) => {
    const locations = [
      ...[numbers(2, 1, 1, 0, 1), numbers(4, 0, grid.length)],
      ...tiles.flatMap((id, i) => [
        numbers(2, id, 0, 0, 1),
        numbers(4, start + (i % copies) * coded.length, coded.length),
      ]),
    ]
    return Buffer.concat([
      box('ftyp', 'heic\0\0\0\0mif1heic'),
      fullBox(
        'meta',
        0,
        fullBox('hdlr', 0, Buffer.alloc(4), 'pict', Buffer.alloc(13)),
        fullBox('pitm', 0, numbers(2, 1)),
        fullBox('iinf', 0, numbers(2, 1 + tiles.length), item(1, 'grid'), ...tiles.map((id) => item(id, 'hvc1'))),
        fullBox('iref', 0, box('dimg', numbers(2, 1, tiles.length, ...tiles))),
        box(
          'iprp',
          box('ipco', hvcc, ispe, fullBox('ispe', 0, shown), ...transformations),
          fullBox('ipma', 0, numbers(4, 1 + tiles.length), ...properties),
        ),
        fullBox('iloc', 1, numbers(1, 0x44, 0), numbers(2, 1 + tiles.length), ...locations),
        box('idat', grid),
      ),
      media,
    ])
  }
  return withCodedAt(withCodedAt(0).length - media.length + BOX_HEADER)
}

function fullBox(type: string, version: number, ...content: readonly (string | Buffer)[]): Buffer {
  return box(type, numbers(1, version, 0, 0, 0), ...content)
}

function item(id: number, type: string): Buffer {
  return fullBox('infe', 2, numbers(2, id, 0), type, '\0')
}

function associations(id: number, ...properties: readonly number[]): Buffer {
  return Buffer.concat([numbers(2, id), numbers(1, properties.length, ...properties)])
}

function numbers(bytes: 1 | 2 | 4, ...values: readonly number[]): Buffer {
  const out = Buffer.alloc(values.length * bytes)
  values.forEach((value, i) => {
    out.writeUIntBE(value, i * bytes, bytes)
  })
  return out
}
