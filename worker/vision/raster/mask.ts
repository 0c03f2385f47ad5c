import { createMask, type Mask, type Plane, type Size } from './plane.ts'

/** Pixels for which `test(index)` is true. */
export function maskWhere({ width, height }: Size, test: (index: number) => boolean): Mask {
  const data = new Uint8Array(width * height)
  for (let i = 0; i < data.length; i++) data[i] = test(i) ? 1 : 0
  return { width, height, data }
}

/** Pixels of the mask for which `test(index)` is true; calls `test` only inside the mask. */
export function subset(mask: Mask, test: (index: number) => boolean): Mask {
  const { width, height, data } = mask
  const out = new Uint8Array(data.length)
  for (let i = 0; i < data.length; i++) if (data[i] !== 0 && test(i)) out[i] = 1
  return { width, height, data: out }
}

// Prefer the following functions: V8 compiles each of them once. A function that is passed to `maskWhere` or `subset` is compiled
// separately, and called for every pixel.

/** The pixels that are set in any of the masks. */
export function union(first: Mask, ...others: readonly Mask[]): Mask {
  const out = copyMask(first)
  for (const other of others) addPixels(out.data, other.data)
  return out
}

/** The pixels that are set in all masks. */
export function intersect(first: Mask, ...others: readonly Mask[]): Mask {
  const out = copyMask(first)
  for (const other of others) keepPixels(out.data, other.data)
  return out
}

/** The pixels of the mask that are set in none of the others. */
export function without(mask: Mask, ...others: readonly Mask[]): Mask {
  const out = copyMask(mask)
  for (const other of others) removePixels(out.data, other.data)
  return out
}

function copyMask({ width, height, data }: Mask): Mask {
  return { width, height, data: new Uint8Array(data) }
}

// Four pixels at a time take a fifth of the time. The last of them are an incomplete word.
function wordsOf({ buffer, byteOffset, length }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length >> 2)
}

function addPixels(data: Uint8Array, other: Uint8Array): void {
  const [words, others] = [wordsOf(data), wordsOf(other)]
  for (let i = 0; i < words.length; i++) words[i] |= others[i]
  for (let i = 4 * words.length; i < data.length; i++) data[i] |= other[i]
}

function keepPixels(data: Uint8Array, other: Uint8Array): void {
  const [words, others] = [wordsOf(data), wordsOf(other)]
  for (let i = 0; i < words.length; i++) words[i] &= others[i]
  for (let i = 4 * words.length; i < data.length; i++) data[i] &= other[i]
}

function removePixels(data: Uint8Array, other: Uint8Array): void {
  const [words, others] = [wordsOf(data), wordsOf(other)]
  for (let i = 0; i < words.length; i++) words[i] &= ~others[i]
  for (let i = 4 * words.length; i < data.length; i++) data[i] &= ~other[i]
}

/** The pixels of the mask with a value over `over` and under `under`. */
export function withValue(
  mask: Mask,
  { data: values }: Plane,
  { over = Number.NEGATIVE_INFINITY, under = Number.POSITIVE_INFINITY }: { over?: number; under?: number },
): Mask {
  const { width, height, data } = mask
  const out = new Uint8Array(data.length)
  for (let i = 0; i < out.length; i++) if (data[i] !== 0 && values[i] > over && values[i] < under) out[i] = 1
  return { width, height, data: out }
}

/** The pixels with this label. */
export function withLabel({ width, height }: Size, labels: Uint8Array, label: number): Mask {
  const out = new Uint8Array(labels.length)
  for (let i = 0; i < out.length; i++) out[i] = labels[i] === label ? 1 : 0
  return { width, height, data: out }
}

/** The pixels that are not set. */
export function invert({ width, height, data }: Mask): Mask {
  const out = new Uint8Array(data.length).fill(1)
  removePixels(out, data)
  return { width, height, data: out }
}

export function threshold(plane: Plane, above: number): Mask {
  const mask = createMask(plane)
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = plane.data[i] > above ? 1 : 0
  return mask
}

export function below(plane: Plane, limit: number): Mask {
  const mask = createMask(plane)
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = plane.data[i] < limit ? 1 : 0
  return mask
}

export function countSet(mask: Mask): number {
  let n = 0
  for (let i = 0; i < mask.data.length; i++) n += mask.data[i]
  return n
}
