import { type Bitmap, type Rectangle, readLuminance } from './image.ts'

/** Perceptual hashes of an image: 64 hex digits each. Copies of an image differ in few of the 256 bits. */
export interface ImageHashes {
  readonly hash: string
  /** Of the mirrored image. */
  readonly mirrored: string
}

const SIDE = 64
/** Frequencies in each direction, without the mean. */
const FREQUENCIES = 16
/** Mean difference of neighbouring pixels, of 255. Photos of persons before a white wall have 3.9 and more. */
const MIN_DETAIL = 1

const COSINES = Array.from({ length: FREQUENCIES }, (_, i) =>
  Float64Array.from({ length: SIDE }, (_, x) => Math.cos(((2 * x + 1) * (i + 1) * Math.PI) / (2 * SIDE))),
)

/**
 * Hashes an image, or a part of it: whether each of its 16 × 16 lowest frequencies (DCT-II of 64 × 64 grey pixels) is above their
 * median, as the hash PDQ does. Null for an image with so little detail that its hash would be chance.
 * @throws DrapeError INVALID_IMAGE when the image is damaged
 */
export async function hashImage(image: Uint8Array | Bitmap, part?: Rectangle): Promise<ImageHashes | null> {
  const pixels = await readLuminance(image, { side: SIDE, part })
  if (measureDetail(pixels) < MIN_DETAIL) return null
  const levels = transform(pixels)
  // Mirroring an image negates the frequencies that are odd in its width, and changes no others.
  const mirrored = levels.map((level, i) => ((i % FREQUENCIES) % 2 === 0 ? -level : level))
  return { hash: toHash(levels), mirrored: toHash(mirrored) }
}

function measureDetail(pixels: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < pixels.length - SIDE; i++) {
    if (i % SIDE < SIDE - 1) sum += Math.abs(pixels[i] - pixels[i + 1]) + Math.abs(pixels[i] - pixels[i + SIDE])
  }
  return sum / (2 * (SIDE - 1) ** 2)
}

/** Row by row: 16 frequencies of the height × 16 of the width. */
function transform(pixels: Uint8Array): number[] {
  const columns = COSINES.map((cosines) => {
    const sums = new Float64Array(SIDE)
    for (let i = 0; i < pixels.length; i++) sums[i % SIDE] += cosines[Math.floor(i / SIDE)] * pixels[i]
    return sums
  })
  return columns.flatMap((sums) =>
    COSINES.map((cosines) => sums.reduce((sum, value, x) => sum + value * cosines[x], 0)),
  )
}

function toHash(levels: readonly number[]): string {
  const sorted = levels.toSorted((a, b) => a - b)
  const median = (sorted[levels.length / 2 - 1] + sorted[levels.length / 2]) / 2
  const digits = Array.from({ length: levels.length / 4 }, (_, i) =>
    levels.slice(4 * i, 4 * i + 4).reduce((digit, level) => 2 * digit + Number(level > median), 0),
  )
  return digits.map((digit) => digit.toString(16)).join('')
}
