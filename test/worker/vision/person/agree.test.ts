import { describe, expect, it } from 'vitest'
import { agree } from '../../../../worker/vision/person/agree.ts'
import { type Colours, createPlane } from '../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 16, height: 24 }
const RED = [0.8, 0.1, 0.1]
const GREEN = [0.1, 0.8, 0.1]

// The left half of a grid is red and nearly sure to be a dress, but for a spot; the right half is green and nearly sure to be trousers.
function figure({ total = 1 } = {}) {
  const colours: Colours = { ...SIZE, channels: 3, data: new Float32Array(3 * SIZE.width * SIZE.height) }
  const [dress, trousers] = [createPlane(SIZE), createPlane(SIZE)]
  for (let i = 0; i < dress.data.length; i++) {
    const [x, y] = [i % SIZE.width, Math.floor(i / SIZE.width)]
    const isLeft = x < SIZE.width / 2
    colours.data.set(isLeft ? RED : GREEN, 3 * i)
    const isSpot = x < 4 && y >= 8 && y < 12
    dress.data[i] = total * (isLeft ? (isSpot ? 0.4 : 0.8) : 0.1)
    trousers.data[i] = total - dress.data[i]
  }
  return { planes: [dress, trousers], colours }
}

const at = (x: number, y: number) => y * SIZE.width + x

describe('agreeing on labels', () => {
  it('gives a spot the label of what has its colour', () => {
    const { planes, colours } = figure()
    const [dress, trousers] = agree(planes, colours)
    expect(dress.data[at(2, 10)]).toBeGreaterThan(0.8)
    expect(trousers.data[at(12, 10)]).toBeGreaterThan(0.95)
  })

  it('does not listen to other colours', () => {
    const { planes, colours } = figure()
    for (let row = 8; row < 12; row++) colours.data.fill(0.9, 3 * at(0, row), 3 * at(4, row))
    const [dress] = agree(planes, colours)
    expect(dress.data[at(2, 10)]).toBeLessThan(0.4)
  })

  it('keeps the sum of the labels in each cell, and leaves cells alone that hardly have any', () => {
    const half = figure({ total: 0.5 })
    const agreed = agree(half.planes, half.colours)
    for (const i of agreed[0].data.keys()) expect(agreed[0].data[i] + agreed[1].data[i]).toBeCloseTo(0.5)
    const little = figure({ total: 0.05 })
    expect(agree(little.planes, little.colours)).toEqual(little.planes)
  })
})
