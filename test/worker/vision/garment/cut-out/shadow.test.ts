import { describe, expect, it } from 'vitest'
import { fitBackground } from '../../../../../worker/vision/garment/cut-out/background.ts'
import { compareHueAgain, compareWithBackground } from '../../../../../worker/vision/garment/cut-out/shadow.ts'
import { createRandom } from '../../../../../worker/vision/raster/clusters.ts'
import { maskWhere } from '../../../../../worker/vision/raster/mask.ts'
import type { Colours } from '../../../../../worker/vision/raster/plane.ts'

const size = { width: 41, height: 33 }
const random = createRandom(5)

describe('an updated comparison after a local change of hue', () => {
  it('equals a full comparison, and does not change the first comparison', () => {
    const data = Float32Array.from({ length: 3 * size.width * size.height }, (_, k) =>
      k % 3 === 0 ? 60 + 20 * random() : 6 * random(),
    )
    const lab: Colours = { ...size, channels: 3, data }
    const background = fitBackground(lab)
    const comparison = compareWithBackground(lab, background)
    const before = structuredClone(comparison)
    const changed = maskWhere(size, (i) => i > 400 && i < 700 && i % 3 === 0)
    const isChanged = (k: number) => k % 3 > 0 && changed.data[Math.floor(k / 3)] === 1
    const even: Colours = { ...lab, data: data.map((value, k) => (isChanged(k) ? 1 : value)) }

    const again = compareHueAgain(even, { background, comparison }, changed)
    expect(again).toEqual(compareWithBackground(even, background))
    expect(again.tint).not.toEqual(comparison.tint)
    expect(comparison).toEqual(before)
  })
})
