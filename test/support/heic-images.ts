import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const FOLDER = resolve(import.meta.dirname, '../fixtures/images')

/** A file of `test/fixtures/images`; all show the same image. */
export function heicImage(name: string): Buffer {
  return readFileSync(resolve(FOLDER, `${name}.heic`))
}

export const IMAGE_SIZE = { width: 160, height: 120 }

/** The colour of that image at a pixel. */
export function imageColour(x: number, y: number): [r: number, g: number, b: number] {
  const { width, height } = IMAGE_SIZE
  const blue = 2 * x >= width !== 2 * y >= height
  return [40 + (160 * x) / (width - 1), 40 + (160 * y) / (height - 1), blue ? 200 : 60]
}

/** The pixel of the image that is seen at (x, y) when an EXIF orientation turns it (Exif 2.3, tag 274). */
export function pixelSeenAt(orientation: number, x: number, y: number): [x: number, y: number] {
  const right = IMAGE_SIZE.width - 1
  const bottom = IMAGE_SIZE.height - 1
  const places: readonly [number, number][] = [
    [x, y],
    [right - x, y],
    [right - x, bottom - y],
    [x, bottom - y],
    [y, x],
    [y, bottom - x],
    [right - y, bottom - x],
    [right - y, x],
  ]
  return places[orientation - 1]
}

/** The complete box of this type. */
export function findHeicBox(file: Buffer, type: string): { start: number; end: number } {
  const start = file.indexOf(type, 0, 'latin1') - 4
  return { start, end: start + file.readUInt32BE(start) }
}
