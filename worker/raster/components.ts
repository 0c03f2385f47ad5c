import { createMask, type Mask, maskWhere } from './plane.ts'

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
  /** 0 where the mask is 0, otherwise the component's label; height × width. */
  readonly labels: Int32Array
  readonly components: readonly Component[]
}

/**
 * Connected regions of set pixels, in the order of their first pixel. Works on runs of set pixels a row: each run joins those
 * it touches in the row above (union-find).
 */
export function connectedComponents(mask: Mask, neighbours: 4 | 8 = 8): Components {
  const runs = findRuns(mask)
  const parents = joinRuns(runs, mask.height, neighbours === 8 ? 1 : 0)
  const labels = new Int32Array(mask.width * mask.height)
  const labelOf = new Int32Array(parents.length)
  const components: { -readonly [K in keyof Component]: Component[K] }[] = []
  for (let y = 0; y < mask.height; y++) {
    for (let r = runs.firstOfRow[y]; r < runs.firstOfRow[y + 1]; r++) {
      const root = rootOf(parents, r)
      const from = runs.from[r]
      const to = runs.to[r]
      if (labelOf[root] === 0) {
        components.push({ label: components.length + 1, area: 0, left: from, top: y, right: to, bottom: y + 1 })
        labelOf[root] = components.length
      }
      const component = components[labelOf[root] - 1]
      component.area += to - from
      if (from < component.left) component.left = from
      if (to > component.right) component.right = to
      component.bottom = y + 1
      labels.fill(component.label, y * mask.width + from, y * mask.width + to)
    }
  }
  return { labels, components }
}

interface Runs {
  /** First column and one past the last column of every run, row after row. */
  readonly from: Int32Array
  readonly to: Int32Array
  /** Index of every row's first run; one entry more than rows. */
  readonly firstOfRow: Int32Array
}

function findRuns({ width, height, data }: Mask): Runs {
  const from: number[] = []
  const to: number[] = []
  const firstOfRow = new Int32Array(height + 1)
  for (let y = 0; y < height; y++) {
    const row = y * width
    for (let x = 0; x < width; x++) {
      if (!data[row + x]) continue
      from.push(x)
      while (x < width && data[row + x]) x++
      to.push(x)
    }
    firstOfRow[y + 1] = from.length
  }
  return { from: Int32Array.from(from), to: Int32Array.from(to), firstOfRow }
}

// `reach` is 1 when runs that only meet at a corner belong together, else 0.
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
  const { labels, components } = connectedComponents(mask, neighbours)
  const kept = new Uint8Array(components.length + 1)
  for (const component of components) if (keep(component, components)) kept[component.label] = 1
  const out = createMask(mask)
  for (let i = 0; i < labels.length; i++) out.data[i] = kept[labels[i]]
  return out
}

/** The largest component alone; of two equal ones the first. */
export function largestComponent(mask: Mask): Mask {
  let largest: Component | null = null
  return keepComponents(mask, (component, all) => {
    largest ??= all.reduce((best, other) => (other.area > best.area ? other : best))
    return component === largest
  })
}

/** Set pixels that are joined to the picture's border. */
export function connectedToBorder(mask: Mask, neighbours: 4 | 8 = 4): Mask {
  return keepComponents(
    mask,
    (c) => c.left === 0 || c.top === 0 || c.right === mask.width || c.bottom === mask.height,
    neighbours,
  )
}

/** The mask with every hole set that the outside cannot reach. */
export function fillHoles(mask: Mask): Mask {
  const ground = createMask(mask)
  for (let i = 0; i < ground.data.length; i++) ground.data[i] = mask.data[i] ? 0 : 1
  const outside = connectedToBorder(ground)
  return maskWhere(mask, (i) => outside.data[i] === 0)
}
