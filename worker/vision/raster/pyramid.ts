import type { Bitmap, Size } from './plane.ts'

/** A bitmap pyramid: `level(n)` is 2ⁿ times smaller, computed on first use, and at least 1 × 1. */
export interface Pyramid {
  readonly size: Size
  level(n: number): Bitmap
  /** The pyramid that starts at level n; both share their levels. */
  from(n: number): Pyramid
}

/** Pixel (x, y) of level n covers the pixels 2ⁿ·(x, y) to 2ⁿ·(x + 1, y + 1) of level 0. The border is replicated. */
export function createPyramid(bitmap: Bitmap): Pyramid {
  const levels = [bitmap]
  const level = (n: number) => {
    while (levels.length <= n) levels.push(halve(levels[levels.length - 1]))
    return levels[n]
  }
  const from = (first: number): Pyramid => {
    const { width, height } = level(first)
    return { size: { width, height }, level: (n) => level(first + n), from: (n) => from(first + n) }
  }
  return from(0)
}

/** The highest level on which `length` px of the bitmap are at least `target` / √2 px, that is about `target` px. */
export function levelFor(length: number, target: number): number {
  return Math.max(0, Math.round(Math.log2(length / target)))
}

function halve({ width, height, channels, data }: Bitmap): Bitmap {
  const size = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const out = new Uint8Array(size.width * size.height * channels)
  for (let y = 0, to = 0; y < size.height; y++) {
    const upper = 2 * y * width
    const lower = Math.min(2 * y + 1, height - 1) * width
    for (
      let x = 0, a = upper * channels, c = lower * channels;
      x < size.width;
      x++, a += 2 * channels, c += 2 * channels
    ) {
      const right = 2 * x + 1 < width ? channels : 0
      const b = a + right
      const d = c + right
      // Unrolled: a loop over the channels takes more than twice as long in V8.
      out[to++] = (data[a] + data[b] + data[c] + data[d] + 2) >> 2
      out[to++] = (data[a + 1] + data[b + 1] + data[c + 1] + data[d + 1] + 2) >> 2
      out[to++] = (data[a + 2] + data[b + 2] + data[c + 2] + data[d + 2] + 2) >> 2
      if (channels === 4) out[to++] = (data[a + 3] + data[b + 3] + data[c + 3] + data[d + 3] + 2) >> 2
    }
  }
  return { ...size, channels, data: out }
}
