import { describe, expect, it } from 'vitest'
import { mapMesh } from '../../../../../worker/engines/warp/warp/mesh.ts'
import type { Point } from '../../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 90, height: 90 }

const grid = (place: (row: number, column: number) => Point, rows = 7, columns = 5) =>
  Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => place(row, column)))

const straight = grid((row, column) => ({ x: 10 + 15 * column, y: 8 + 12 * row }))

describe('mapMesh', () => {
  it('maps a grid onto itself as the identity, without gaps', () => {
    const map = mapMesh(straight, straight, SIZE)
    for (let y = 8; y <= 80; y++) {
      for (let x = 10; x <= 70; x++) {
        const at = (y - map.box.y) * map.box.width + x - map.box.x
        expect(Math.hypot(map.x[at] - x, map.y[at] - y)).toBeLessThan(1e-3)
      }
    }
    expect(map.folded).toBe(0)
  })

  it('is NaN outside the grid', () => {
    const { x } = mapMesh(straight, straight, SIZE)
    expect(x[0]).toBeNaN()
    expect(x.filter((value) => !Number.isNaN(value)).length).toBe(61 * 73)
  })

  it('maps columns to −1 to 1', () => {
    const { box, across } = mapMesh(straight, straight, SIZE)
    const at = (x: number) => across[(40 - box.y) * box.width + x - box.x]
    expect(at(10)).toBeCloseTo(-1)
    expect(at(40)).toBeCloseTo(0)
    expect(at(70)).toBeCloseTo(1)
  })

  it('leaves no gap between the cells of a bent grid', () => {
    const bent = grid((row, column) => {
      const angle = 0.2 * row
      const radius = 30 + 7 * column
      return { x: 12 + radius * Math.cos(angle), y: 12 + radius * Math.sin(angle) }
    })
    const { box, x } = mapMesh(straight, bent, SIZE)
    const holes = x.filter((value, i) => {
      const [px, py] = [(i % box.width) + box.x - 12, Math.floor(i / box.width) + box.y - 12]
      const radius = Math.hypot(px, py)
      const angle = Math.atan2(py, px)
      return radius > 31 && radius < 57 && angle > 0.02 && angle < 1.18 && Number.isNaN(value)
    })
    expect(holes.length).toBe(0)
  })

  it('reports the folded share of a grid in either orientation', () => {
    const folded = grid((row, column) => ({ x: 10 + 15 * column, y: row < 6 ? 8 + 12 * row : 56 }))
    expect(mapMesh(straight, folded, SIZE).folded).toBeCloseTo(1 / 6)
    const mirrored = straight.map((row) => row.toReversed())
    expect(mapMesh(straight, mirrored, SIZE).folded).toBe(0)
  })
})
