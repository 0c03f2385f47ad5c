import { describe, expect, it } from 'vitest'
import { countCells, decodePeople, letterbox } from '../../../../../worker/engines/fashn-vton/dwpose/detect-people.ts'
import { createBytes } from '../../../../../worker/vision/raster/bytes.ts'

const CANVAS = { width: 64, height: 64 }
const COLUMNS = 85

/** Raw output with these rows, all else nothing. */
function rawOf(rows: Readonly<Record<number, readonly number[]>>) {
  const data = new Float32Array(countCells(CANVAS) * COLUMNS)
  for (const [row, values] of Object.entries(rows)) data.set(values, Number(row) * COLUMNS)
  return { shape: [1, countCells(CANVAS), COLUMNS], data }
}
const decode = (rows: Readonly<Record<number, readonly number[]>>, scale = 1) =>
  decodePeople(rawOf(rows), CANVAS, scale)

describe('the input of the person detector', () => {
  it('has the image in the upper left corner, in BGR order, on grey', () => {
    const bitmap = createBytes({ width: 20, height: 40 }, 3)
    for (let i = 0; i < bitmap.data.length; i += 3) bitmap.data.set([10, 20, 30], i)
    const { tensor, scale } = letterbox(bitmap, CANVAS)
    expect(scale).toBe(1.6)
    expect(tensor.shape).toEqual([1, 3, 64, 64])
    const at = (c: number, x: number, y: number) => tensor.data[c * 4096 + y * 64 + x]
    expect([at(0, 31, 63), at(1, 31, 63), at(2, 31, 63)]).toEqual([30, 20, 10])
    expect([at(0, 32, 0), at(1, 32, 0), at(2, 32, 0)]).toEqual([114, 114, 114])
  })

  it('is resized with linear interpolation', () => {
    const bitmap = createBytes({ width: 2, height: 2 }, 3)
    bitmap.data.fill(200, 3, 6).fill(200, 9, 12)
    const { tensor } = letterbox(bitmap, { width: 8, height: 8 })
    expect([...tensor.data.subarray(0, 8)]).toEqual([0, 0, 25, 75, 125, 175, 200, 200])
  })
})

describe('the output of the person detector', () => {
  it('is read from cells of three sizes', () => {
    expect(countCells(CANVAS)).toBe(64 + 16 + 4)
    // Cell 9 of 8 px is the second of the second row; 64 + 16 + 3 is the last of 32 px.
    expect(decode({ 9: [0.5, 0.25, Math.log(2), Math.log(3), 0.9, 0.9] })).toEqual([box(4, -2, 16, 24)])
    expect(decode({ 83: [0.5, 0.5, 0, 0, 1, 1] })).toEqual([box(32, 32, 32, 32)])
  })

  it('is in pixels of the original image', () => {
    expect(decode({ 83: [0.5, 0.5, 0, 0, 1, 1] }, 2)).toEqual([box(16, 16, 16, 16)])
  })

  it('is a person above a score of 0.3 in the first class', () => {
    expect(decode({ 83: [0.5, 0.5, 0, 0, 0.58, 0.5] })).toEqual([])
    expect(decode({ 83: [0.5, 0.5, 0, 0, 0.62, 0.5] })).toHaveLength(1)
    expect(decode({ 83: [0.5, 0.5, 0, 0, 1, 0, 1] })).toEqual([])
  })

  it('merges boxes with an IoU above 0.45, highest score first', () => {
    const large = Math.log(1.9)
    const twice = decode({ 80: [0.5, 0.5, large, large, 1, 0.7], 81: [-0.2, 0.5, large, large, 1, 0.8] })
    expect(twice).toHaveLength(1)
    expect(twice[0].x).toBeCloseTo(0.8 * 32 - 0.95 * 32, 4)
    const apart = decode({ 80: [0.5, 0.5, 0, 0, 1, 0.7], 83: [0.5, 0.5, 0, 0, 1, 0.8] })
    expect(apart).toEqual([box(32, 32, 32, 32), box(0, 0, 32, 32)])
  })
})

function box(x: number, y: number, width: number, height: number) {
  const near = (value: number) => expect.closeTo(value, 4)
  return { x: near(x), y: near(y), width: near(width), height: near(height) }
}
