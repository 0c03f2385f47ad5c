import { expect, it } from 'vitest'
import { solveLinearSystem } from '../../../../worker/vision/raster/linear-system.ts'

it('solves several right sides at once, also when a pivot is zero', () => {
  const matrix = Float64Array.of(0, 2, 1, 1, 1, 0, 3, 0, -1)
  const x = [
    [1, -2],
    [2, 0.5],
    [-3, 4],
  ]
  const right = new Float64Array(6)
  for (let r = 0; r < 3; r++)
    for (let c = 0; c < 2; c++) for (let k = 0; k < 3; k++) right[r * 2 + c] += matrix[r * 3 + k] * x[k][c]
  const solved = solveLinearSystem(matrix, right, 3)
  for (const [i, value] of x.flat().entries()) expect(solved[i]).toBeCloseTo(value, 9)
})

it('sets undetermined unknowns to 0', () => {
  expect([...solveLinearSystem(Float64Array.of(2, 0, 0, 0), Float64Array.of(4, 0), 2)]).toEqual([2, 0])
})
