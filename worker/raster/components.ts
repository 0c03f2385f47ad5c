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

/** Connected regions of set pixels, in the order of their first pixel. */
export function connectedComponents(mask: Mask, neighbours: 4 | 8 = 8): Components {
  const { width, height, data } = mask
  const labels = new Int32Array(width * height)
  const components: Component[] = []
  const stack: number[] = []
  for (let start = 0; start < data.length; start++) {
    if (!data[start] || labels[start]) continue
    const label = components.length + 1
    let area = 0
    let left = width
    let top = height
    let right = 0
    let bottom = 0
    labels[start] = label
    stack.push(start)
    for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
      const x = i % width
      const y = (i - x) / width
      area++
      if (x < left) left = x
      if (x + 1 > right) right = x + 1
      if (y < top) top = y
      if (y + 1 > bottom) bottom = y + 1
      for (let dy = -1; dy <= 1; dy++) {
        if (y + dy < 0 || y + dy >= height) continue
        for (let dx = -1; dx <= 1; dx++) {
          if ((dx === 0 && dy === 0) || x + dx < 0 || x + dx >= width) continue
          if (neighbours === 4 && dx !== 0 && dy !== 0) continue
          const j = i + dy * width + dx
          if (data[j] && !labels[j]) {
            labels[j] = label
            stack.push(j)
          }
        }
      }
    }
    components.push({ label, area, left, top, right, bottom })
  }
  return { labels, components }
}

/** The components that `keep` accepts, as one mask. */
export function keepComponents(
  mask: Mask,
  keep: (component: Component, all: readonly Component[]) => boolean,
  neighbours: 4 | 8 = 8,
): Mask {
  const { labels, components } = connectedComponents(mask, neighbours)
  const kept = new Set(components.filter((c) => keep(c, components)).map((c) => c.label))
  return maskWhere(mask, (i) => kept.has(labels[i]))
}

/** The largest component alone. */
export function largestComponent(mask: Mask): Mask {
  return keepComponents(mask, (c, all) =>
    all.every((o) => o.area < c.area || (o.area === c.area && o.label >= c.label)),
  )
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
