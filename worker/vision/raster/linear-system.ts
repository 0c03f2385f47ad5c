/**
 * Solves matrix · x = right side for several right sides, by Gaussian elimination with partial pivoting. `matrix` is n ×
 * n row-major, `rightSides` n × columns; neither is modified. Returns n × columns. A matrix without full rank gives 0 for
 * the undetermined unknowns.
 */
export function solveLinearSystem(matrix: Float64Array, rightSides: Float64Array, n: number): Float64Array {
  const columns = rightSides.length / n
  const a = matrix.slice()
  const b = rightSides.slice()
  for (let k = 0; k < n; k++) {
    const pivot = largestBelow(a, k, n)
    if (Math.abs(a[pivot * n + k]) < 1e-12) continue
    swapRows(a, { from: pivot, to: k, stride: n })
    swapRows(b, { from: pivot, to: k, stride: columns })
    for (let row = k + 1; row < n; row++) {
      const factor = a[row * n + k] / a[k * n + k]
      if (factor === 0) continue
      for (let c = k; c < n; c++) a[row * n + c] -= factor * a[k * n + c]
      for (let c = 0; c < columns; c++) b[row * columns + c] -= factor * b[k * columns + c]
    }
  }
  return substituteBack(a, b, n)
}

function largestBelow(a: Float64Array, k: number, n: number): number {
  let best = k
  for (let row = k + 1; row < n; row++) if (Math.abs(a[row * n + k]) > Math.abs(a[best * n + k])) best = row
  return best
}

function swapRows(a: Float64Array, { from, to, stride }: { from: number; to: number; stride: number }): void {
  if (from === to) return
  for (let c = 0; c < stride; c++) {
    const kept = a[from * stride + c]
    a[from * stride + c] = a[to * stride + c]
    a[to * stride + c] = kept
  }
}

function substituteBack(a: Float64Array, b: Float64Array, n: number): Float64Array {
  const columns = b.length / n
  const x = new Float64Array(b.length)
  for (let row = n - 1; row >= 0; row--) {
    const pivot = a[row * n + row]
    if (Math.abs(pivot) < 1e-12) continue
    for (let c = 0; c < columns; c++) {
      let rest = b[row * columns + c]
      for (let k = row + 1; k < n; k++) rest -= a[row * n + k] * x[k * columns + c]
      x[row * columns + c] = rest / pivot
    }
  }
  return x
}
