import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../worker/vision/raster/clusters.ts'
import { connectedComponents, keepComponents } from '../../../../worker/vision/raster/components.ts'
import { distanceTo } from '../../../../worker/vision/raster/distance.ts'
import { invert, maskWhere } from '../../../../worker/vision/raster/mask.ts'
import { dilate, erode } from '../../../../worker/vision/raster/morphology.ts'
import { createMask, type Mask } from '../../../../worker/vision/raster/plane.ts'

const random = createRandom(11)

/** From nearly empty to nearly full, also of one row or one column. */
const masks: Mask[] = [0.03, 0.5, 0.95].flatMap((share) =>
  [
    { width: 37, height: 29 },
    { width: 1, height: 23 },
    { width: 31, height: 1 },
  ].map((size) => maskWhere(size, () => random() < share)),
)

// Every pixel with a pixel of this value within the disc; there are none outside the image.
function spread({ width, height, data }: Mask, radius: number, value: 0 | 1): Mask {
  const out = createMask({ width, height })
  if (value === 0) out.data.fill(1)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let v = 0; v < height; v++)
        for (let u = 0; u < width; u++)
          if (data[v * width + u] === value && (u - x) ** 2 + (v - y) ** 2 <= (radius + 0.25) ** 2)
            out.data[y * width + x] = value
  return out
}

describe.each([0.5, 1, 2, 3.4, 8])('a disc of %s px', (radius) => {
  it('dilates a mask to all pixels within reach', () => {
    for (const mask of masks) expect(dilate(mask, radius).data).toEqual(spread(mask, radius, 1).data)
  })

  it('erodes a mask by all pixels within reach from outside', () => {
    for (const mask of masks) expect(erode(mask, radius).data).toEqual(spread(mask, radius, 0).data)
  })
})

describe.each([40, 90.3, 128])('a large disc of %s px', (radius) => {
  const size = { width: 300, height: 260 }
  const sparse = maskWhere(size, () => random() < 4e-5)
  const distance = distanceTo(sparse).data
  const reached = maskWhere(size, (i) => distance[i] <= radius + 0.25)

  it('dilates a mask to all pixels within its radius', () => {
    expect(dilate(sparse, radius).data).toEqual(reached.data)
  })

  it('erodes the complement by the same pixels', () => {
    expect(erode(invert(sparse), radius).data).toEqual(invert(reached).data)
  })
})

describe('kept components', () => {
  it('contain all pixels of their labels', () => {
    for (const mask of masks) {
      const { labels, components } = connectedComponents(mask)
      const large = new Set(components.filter(({ area }) => area > 3).map(({ label }) => label))
      const kept = keepComponents(mask, ({ area }) => area > 3)
      expect(kept.data).toEqual(Uint8Array.from(labels, (label) => (large.has(label) ? 1 : 0)))
    }
  })
})
