import { describe, expect, it } from 'vitest'
import { fillMembrane } from '../../../../worker/vision/raster/fill.ts'
import { type Colours, createPlane } from '../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 60, height: 40 }

describe('filling like a membrane', () => {
  it('continues a slope into the hole and keeps known pixels', () => {
    const colours: Colours = { ...SIZE, channels: 3, data: new Float32Array(60 * 40 * 3) }
    const weight = createPlane(SIZE, 1)
    for (let i = 0; i < weight.data.length; i++) {
      const x = i % 60
      const y = Math.floor(i / 60)
      colours.data.fill(2 * x + y, i * 3, i * 3 + 3)
      if (x > 25 && x < 35 && y > 15 && y < 25) weight.data[i] = 0
    }
    const filled = fillMembrane(colours, weight, 60)
    for (let i = 0; i < filled.data.length; i++) expect(Math.abs(filled.data[i] - colours.data[i])).toBeLessThan(0.2)
  })

  it('meets a bright border without a step near dark pixels', () => {
    const colours: Colours = { ...SIZE, channels: 3, data: new Float32Array(60 * 40 * 3).fill(160) }
    const weight = createPlane(SIZE, 1)
    for (let i = 0; i < weight.data.length; i++) {
      const x = i % 60
      if (x < 8) colours.data.fill(20, i * 3, i * 3 + 3)
      if (x >= 14 && x < 50) weight.data[i] = 0
    }
    const { data } = fillMembrane(colours, weight, 40)
    expect(Math.abs(data[(20 * 60 + 15) * 3] - 160)).toBeLessThan(4)
  })
})
