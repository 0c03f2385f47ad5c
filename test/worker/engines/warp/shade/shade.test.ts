import { describe, expect, it } from 'vitest'
import { measureLight, shadeUpper } from '../../../../../worker/engines/warp/shade/shade.ts'
import { rgbToLab } from '../../../../../worker/vision/raster/colour.ts'
import type { Bitmap, Pixels } from '../../../../../worker/vision/raster/plane.ts'
import { type Colour, drawPerson } from '../../../vision/body/drawn-person.ts'
import { drawGarment } from '../drawn-garment.ts'
import { layGarment } from '../lay-garment.ts'

const LIGHT_GREY: Colour = [170, 170, 172]
const BLACK: Colour = [16, 16, 18]

/** The figure with its top multiplied by `light(x, y)`. */
function relight(
  top: Colour,
  light: (x: number, y: number) => number,
): { fitted: ReturnType<typeof layGarment>; photo: Bitmap } {
  const { person, photo, drawn } = drawPerson(undefined, { top })
  const data = photo.data.slice()
  for (let i = 0; i < drawn.top.data.length; i++) {
    if (!drawn.top.data[i]) continue
    const factor = light(i % photo.width, Math.floor(i / photo.width))
    for (let c = 0; c < 3; c++) data[i * 3 + c] = Math.min(255, Math.round(data[i * 3 + c] * factor))
  }
  const lit = { ...photo, data }
  return { fitted: layGarment(person, lit, drawGarment()), photo: lit }
}

const fold = (x: number) => 1 - 0.25 * Math.exp(-(((x - 240) / 5) ** 2))

const lightAt = (top: Colour, light: (x: number, y: number) => number) => {
  const { fitted, photo } = relight(top, light)
  const { torso } = measureLight(fitted.fitting)
  return (x: number, y: number) => torso.data[y * photo.width + x]
}

const meanDifference = (...layers: [Pixels, Pixels]) => {
  const [a, b] = layers.map((layer) => ({ ...layer, data: new Float32Array(layer.data) }))
  const [before, after] = [rgbToLab(a), rgbToLab(b)]
  let sum = 0
  let count = 0
  for (let i = 0; i < a.data.length / 4; i++) {
    if (a.data[i * 4 + 3] < 254 || b.data[i * 4 + 3] < 254) continue
    const k = i * 3
    sum += Math.hypot(
      before.data[k] - after.data[k],
      before.data[k + 1] - after.data[k + 1],
      before.data[k + 2] - after.data[k + 2],
    )
    count++
  }
  return sum / count
}

describe('lighting of the worn garment', () => {
  it('transfers a fold to the same place, softened', () => {
    const light = lightAt(LIGHT_GREY, fold)
    expect(light(240, 290)).toBeLessThan(light(222, 290) - 0.03)
    expect(light(240, 290)).toBeGreaterThan(0.75)
  })

  it('transfers only the body curvature from plain cloth', () => {
    const light = lightAt(LIGHT_GREY, () => 1)
    expect(light(240, 290)).toBeCloseTo(1, 2)
    expect(light(240 + 62, 290)).toBeLessThan(0.97)
    expect(light(240 + 62, 290)).toBeGreaterThan(0.8)
  })

  it('does not mistake stripes for folds', () => {
    const striped = lightAt(LIGHT_GREY, (_, y) => (y % 24 < 12 ? 1 : 0.45))
    const values = Array.from({ length: 40 }, (_, k) => striped(240, 270 + k))
    expect(Math.max(...values) - Math.min(...values)).toBeLessThan(0.05)
  })

  it('finds no folds in black cloth', () => {
    const light = lightAt(BLACK, fold)
    expect(Math.abs(light(240, 290) - light(222, 290))).toBeLessThan(0.02)
  })
})

describe('shading the layers', () => {
  it('keeps the product color under harsh light', () => {
    const { fitted } = relight(LIGHT_GREY, (x, y) => 0.75 + 0.25 * Math.sin(x / 9) * Math.sin(y / 31))
    const before = { ...fitted.layers.torso, data: fitted.layers.torso.data.slice() }
    shadeUpper(fitted.layers, measureLight(fitted.fitting))
    expect(meanDifference(before, fitted.layers.torso)).toBeLessThan(4.7)
  })

  it('keeps colors premultiplied, and adds no coverage', () => {
    const { fitted } = relight(LIGHT_GREY, fold)
    const all = [fitted.layers.torso, ...fitted.layers.sleeves.map(({ layer }) => layer)]
    const copies = all.map(({ data }) => data.slice())
    shadeUpper(fitted.layers, measureLight(fitted.fitting))
    for (const [n, after] of all.entries()) {
      const before = copies[n]
      const wrong = after.data.filter((value, k) => {
        const cover = after.data[k | 3]
        return (before[k | 3] === 0 && cover !== 0) || value > cover + 0.01
      })
      expect(wrong.length).toBe(0)
    }
  })
})
