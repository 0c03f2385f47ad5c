import { invert, subset } from './mask.ts'
import { createMask, type Mask } from './plane.ts'
import { findRuns, type Runs } from './runs.ts'

export interface Component {
  /** Value of this component's pixels in `labels`; counts from 1. */
  readonly label: number
  readonly area: number
  /** Bounding box in px, right and bottom exclusive. */
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export interface Components {
  /** 0 where the mask is 0, otherwise the component's label; height × width. Drawn on first use. */
  readonly labels: Int32Array
  readonly components: readonly Component[]
}

/**
 * Connected regions of set pixels, in the order of their first pixel. Works on runs of set pixels per row: joins each run
 * with the touching runs of the row above (union-find).
 */
export function connectedComponents(mask: Mask, neighbours: 4 | 8 = 8): Components {
  const { runs, labelOfRun, components } = traceComponents(mask, neighbours)
  let labels: Int32Array | null = null
  const draw = () => {
    const drawn = new Int32Array(mask.width * mask.height)
    forEachRun(runs, mask, (run, from, to) => drawn.fill(labelOfRun[run], from, to))
    return drawn
  }
  return {
    components,
    get labels() {
      labels ??= draw()
      return labels
    },
  }
}

interface Traced {
  readonly runs: Runs
  readonly labelOfRun: Int32Array
  readonly components: readonly Component[]
}

function traceComponents(mask: Mask, neighbours: 4 | 8): Traced {
  const runs = findRuns(mask)
  const parents = joinRuns(runs, mask.height, neighbours === 8 ? 1 : 0)
  const labelOfRun = new Int32Array(parents.length)
  const components: { -readonly [K in keyof Component]: Component[K] }[] = []
  for (let y = 0; y < mask.height; y++) {
    for (let r = runs.firstOfRow[y]; r < runs.firstOfRow[y + 1]; r++) {
      // The root is the component's first run.
      const root = rootOf(parents, r)
      const from = runs.from[r]
      const to = runs.to[r]
      if (labelOfRun[root] === 0) {
        components.push({ label: components.length + 1, area: 0, left: from, top: y, right: to, bottom: y + 1 })
        labelOfRun[root] = components.length
      }
      labelOfRun[r] = labelOfRun[root]
      const component = components[labelOfRun[r] - 1]
      component.area += to - from
      if (from < component.left) component.left = from
      if (to > component.right) component.right = to
      component.bottom = y + 1
    }
  }
  return { runs, labelOfRun, components }
}

// The first pixel of each run and the pixel after its last.
function forEachRun(
  { from, to, firstOfRow }: Runs,
  { width, height }: Mask,
  visit: (run: number, first: number, end: number) => void,
): void {
  for (let y = 0; y < height; y++)
    for (let r = firstOfRow[y]; r < firstOfRow[y + 1]; r++) visit(r, y * width + from[r], y * width + to[r])
}

// `reach` is 1 if runs that meet only at a corner are connected, else 0.
function joinRuns({ from, to, firstOfRow }: Runs, height: number, reach: 0 | 1): Int32Array {
  const parents = Int32Array.from(from.keys())
  for (let y = 1; y < height; y++) {
    let above = firstOfRow[y - 1]
    const end = firstOfRow[y]
    for (let r = end; r < firstOfRow[y + 1]; r++) {
      while (above < end && to[above] + reach <= from[r]) above++
      for (let k = above; k < end && from[k] < to[r] + reach; k++) join(parents, k, r)
    }
  }
  return parents
}

function join(parents: Int32Array, a: number, b: number): void {
  const rootA = rootOf(parents, a)
  const rootB = rootOf(parents, b)
  if (rootA < rootB) parents[rootB] = rootA
  else parents[rootA] = rootB
}

function rootOf(parents: Int32Array, run: number): number {
  let r = run
  while (parents[r] !== r) {
    parents[r] = parents[parents[r]]
    r = parents[r]
  }
  return r
}

/** The components that `keep` accepts, as one mask. */
export function keepComponents(
  mask: Mask,
  keep: (component: Component, all: readonly Component[]) => boolean,
  neighbours: 4 | 8 = 8,
): Mask {
  const { runs, labelOfRun, components } = traceComponents(mask, neighbours)
  const kept = components.map((component) => keep(component, components))
  const out = createMask(mask)
  forEachRun(runs, mask, (run, from, to) => {
    if (kept[labelOfRun[run] - 1]) out.data.fill(1, from, to)
  })
  return out
}

/** The largest component; the first of two equal ones. */
export function largestComponent(mask: Mask): Mask {
  let largest: Component | null = null
  return keepComponents(mask, (component, all) => {
    largest ??= all.reduce((best, other) => (other.area > best.area ? other : best))
    return component === largest
  })
}

/** Components with at least one pixel that is also set in `other`. */
export function componentsTouching(mask: Mask, other: Mask): Mask {
  const { labels, components } = connectedComponents(mask)
  const touches = new Uint8Array(components.length + 1)
  for (let i = 0; i < labels.length; i++) if (other.data[i]) touches[labels[i]] = 1
  return subset(mask, (i) => touches[labels[i]] === 1)
}

/** Set pixels that are connected to the border of the bitmap. */
export function connectedToBorder(mask: Mask, neighbours: 4 | 8 = 4): Mask {
  return keepComponents(
    mask,
    (c) => c.left === 0 || c.top === 0 || c.right === mask.width || c.bottom === mask.height,
    neighbours,
  )
}

/** Fills all holes that are not connected to the outside. */
export function fillHoles(mask: Mask): Mask {
  return invert(connectedToBorder(invert(mask)))
}
