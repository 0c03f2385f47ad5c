import { deltaE } from '../raster/colour.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { dilate, erode } from '../raster/morphology.ts'
import type { Colours } from '../raster/plane.ts'
import { norm, unit } from '../raster/vector.ts'
import type { Evidence } from './evidence.ts'

// px on each side of the edge of the changed region.
const AWAY = 4

/** Lines along the edge of the changed region, and steps across that edge where no garment ends, in units of 10 ΔE. */
export function boundarySigns({ scene, changed, toProduct }: Evidence): { ridge: number; step: number } {
  const { before, after, change } = scene
  const [outer, inner] = [dilate(changed, 1), erode(changed, 1)]
  const smooth = gaussianBlur(change, 2)
  const ridges: number[] = []
  let steps = 0
  const { width, height } = changed
  for (let y = AWAY + 1, from = 0; y < height - AWAY - 1; y++) {
    from = y * width
    for (let x = AWAY + 1; x < width - AWAY - 1; x++) {
      const i = from + x
      if (!outer.data[i] || inner.data[i]) continue
      const gradient = {
        x: smooth.data[i + 1] - smooth.data[i - 1],
        y: smooth.data[i + width] - smooth.data[i - width],
      }
      if (norm(gradient.x, gradient.y) < 0.02) continue
      const normal = unit(gradient)
      const at = (way: number) => Math.round(y + way * normal.y) * width + Math.round(x + way * normal.x)
      const [inside, outside] = [at(AWAY), at(-AWAY)]
      const residual = Math.max(...[-1, 0, 1].map((way) => offLine(after, at(way), [inside, outside])))
      const usual = Math.max(...[-1, 0, 1].map((way) => offLine(before, at(way), [inside, outside])))
      ridges.push(Math.max(0, residual - usual))
      if (toProduct(inside) > 14 && toProduct(outside) > 14)
        steps += Math.max(0, deltaE(after, inside, after, outside) - deltaE(before, inside, before, outside) - 4)
    }
  }
  if (ridges.length === 0) return { ridge: 0, step: 0 }
  ridges.sort((a, b) => b - a)
  const worst = ridges.slice(0, Math.ceil(ridges.length / 4))
  return {
    ridge: worst.reduce((sum, value) => sum + value, 0) / worst.length / 10,
    step: steps / ridges.length / 10,
  }
}

// ΔE of a pixel to the nearest mix of two others.
function offLine({ data }: Colours, i: number, [a, b]: readonly [number, number]): number {
  const [to, from, k] = [3 * b, 3 * a, 3 * i]
  const [l, u, v] = [data[to] - data[from], data[to + 1] - data[from + 1], data[to + 2] - data[from + 2]]
  const [p, q, r] = [data[k] - data[from], data[k + 1] - data[from + 1], data[k + 2] - data[from + 2]]
  const share = Math.min(1, Math.max(0, (l * p + u * q + v * r) / Math.max(1e-6, l * l + u * u + v * v)))
  return norm(p - share * l, q - share * u, r - share * v)
}
