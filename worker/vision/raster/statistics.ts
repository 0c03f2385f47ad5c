import type { Colours, Mask } from './plane.ts'

/** Median of one channel over every seventh pixel of the mask; 0 for an empty mask. */
export function medianOf(colours: Colours, mask: Mask, channel: number): number {
  const values: number[] = []
  for (let i = 0; i < mask.data.length; i += 7) if (mask.data[i]) values.push(colours.data[i * 3 + channel])
  return values.length > 0 ? Float32Array.from(values).sort()[values.length >> 1] : 0
}

/** The value below which `share` of the values are; 0 without values. */
export function percentile(values: ArrayLike<number>, share: number): number {
  return Float64Array.from(values).sort()[Math.floor(share * values.length)] ?? 0
}

/** The upper median; 0 without values. */
export function median(values: ArrayLike<number>): number {
  return percentile(values, 0.5)
}

/** Number of the nearest step to the value. Not by `Math.round`: a result of −0 makes V8 compile a loop again. */
export function nearestStep(value: number, from: number, step: number): number {
  return Math.floor((value - from) / step + 0.5)
}

/** The value, or the bound that it exceeds. */
export function clamp(value: number, low = 0, high = 1): number {
  return Math.min(high, Math.max(low, value))
}
