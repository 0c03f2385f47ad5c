import { fillSmoothly } from './fill.ts'
import type { Colours, Plane } from './plane.ts'

/**
 * Fills pixels of weight 0 like a membrane stretched over the known pixels: starts from `fillSmoothly`, which mixes in
 * distant colours, and relaxes the result towards Laplace's equation (Gauss–Seidel with over-relaxation, Young 1954), so
 * that the fill meets its border without a step. `rounds` is about the distance in px from the border to which that applies.
 */
export function fillMembrane(colours: Colours, weight: Plane, rounds: number): Colours {
  const filled = fillSmoothly(colours, weight)
  const open = openPixels(weight)
  for (let round = 0; round < rounds; round++) relax(filled, open)
  return filled
}

const OVER_RELAXATION = 1.7

// Known pixels are not modified; neither is the border of the bitmap.
function openPixels({ width, height, data }: Plane): Int32Array {
  const open: number[] = []
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) if (data[y * width + x] < 0.5) open.push(y * width + x)
  }
  return Int32Array.from(open)
}

function relax({ width, channels, data }: Colours, open: Int32Array): void {
  const stride = width * channels
  for (let n = 0; n < open.length; n++) {
    const first = open[n] * channels
    for (let k = first; k < first + channels; k++) {
      const mean = (data[k - channels] + data[k + channels] + data[k - stride] + data[k + stride]) / 4
      data[k] += OVER_RELAXATION * (mean - data[k])
    }
  }
}
