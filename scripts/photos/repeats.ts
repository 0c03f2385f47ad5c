import { decodeImage, resizeBitmap } from '../../api/shared/image/image.ts'

// An image is compared by the brightness of SIDE × SIDE cells, so that size, compression and format do not matter.
const SIDE = 16
// Levels of 255: at most 0.3 between one demo image in two formats, at least 6 between two of them.
const ALIKE = 2

/** Returns a function that says whether it was given the same image before, in whatever size or format. */
export function createRepeatFinder(): (file: Uint8Array) => Promise<boolean> {
  const known: Float64Array[] = []
  return async (file) => {
    const cells = await cellsOf(file)
    const isRepeat = known.some((other) => meanDifference(cells, other) < ALIKE)
    if (!isRepeat) known.push(cells)
    return isRepeat
  }
}

async function cellsOf(file: Uint8Array): Promise<Float64Array> {
  const { data, channels } = await resizeBitmap(await decodeImage(file), { width: SIDE, height: SIDE })
  return Float64Array.from(
    { length: SIDE * SIDE },
    (_, i) => (data[i * channels] + data[i * channels + 1] + data[i * channels + 2]) / 3,
  )
}

function meanDifference(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length
}
