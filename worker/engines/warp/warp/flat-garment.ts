import { type Colours, createPlane, type Plane, type Size } from '../../../vision/raster/plane.ts'
import type { Layer } from '../../../vision/raster/remap.ts'
import type { FlatGarment } from './layers.ts'

/** Min share from which a garment hides objects behind it. */
export const SOLID = 0.95

/** Flattens the torso and the sleeves over it, at a smaller size. */
export function flattenLayers(
  { torso, sleeves }: { torso: Layer; sleeves: readonly { readonly layer: Layer }[] },
  size: Size,
): FlatGarment {
  const colours = reduceLayer(torso, size)
  const torsoCover = alphaOf(colours)
  const sleeveCover = createPlane(size)
  for (const { layer } of sleeves) {
    const sleeve = reduceLayer(layer, size)
    const alpha = alphaOf(sleeve)
    for (let i = 0, k = 0; i < alpha.data.length; i++, k += 4) {
      const share = alpha.data[i]
      if (share === 0) continue
      for (let c = k; c < k + 4; c++) colours.data[c] = sleeve.data[c] + colours.data[c] * (1 - share)
      sleeveCover.data[i] = Math.max(sleeveCover.data[i], share)
    }
  }
  return { colours, cover: alphaOf(colours), torso: torsoCover, sleeves: sleeveCover }
}

// Bilinear between layer pixels: the two sizes differ by a factor below 2.
function reduceLayer(layer: Layer, size: Size): Colours {
  const { width, height, data } = layer
  if (width === size.width && height === size.height) return { ...layer, data: new Float32Array(data) }
  const out = new Float32Array(size.width * size.height * 4)
  for (let y = 0, to = 0; y < size.height; y++) {
    const v = Math.min(Math.max(((y + 0.5) * height) / size.height - 0.5, 0), height - 1)
    const upper = Math.floor(v)
    const down = upper < height - 1 ? width * 4 : 0
    for (let x = 0; x < size.width; x++, to += 4) {
      const u = Math.min(Math.max(((x + 0.5) * width) / size.width - 0.5, 0), width - 1)
      const left = Math.floor(u)
      const right = left < width - 1 ? 4 : 0
      const at = (upper * width + left) * 4
      if (data[at + 3] + data[at + right + 3] + data[at + down + 3] + data[at + down + right + 3] === 0) continue
      for (let c = 0; c < 4; c++) {
        const top = data[at + c] + (data[at + right + c] - data[at + c]) * (u - left)
        const bottom = data[at + down + c] + (data[at + down + right + c] - data[at + down + c]) * (u - left)
        out[to + c] = top + (bottom - top) * (v - upper)
      }
    }
  }
  return { ...size, channels: 4, data: out }
}

function alphaOf({ width, height, data }: Colours): Plane {
  const plane = createPlane({ width, height })
  for (let i = 0, k = 3; i < plane.data.length; i++, k += 4) plane.data[i] = data[k] / 255
  return plane
}
