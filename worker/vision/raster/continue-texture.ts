import { connectedComponents } from './components.ts'
import { fillSmoothly } from './fill.ts'
import { weightedBlur } from './filter.ts'
import { intersect, invert, subset, without } from './mask.ts'
import { dilate } from './morphology.ts'
import { type Colours, channelOf, type Mask, mapChannels, maskToPlane, type Plane } from './plane.ts'
import { enlargeByFactor, reduceMasked } from './reduce.ts'

/** Width in px of the ring around a hole that a moved bitmap has to match. */
const RING = 4
/** Px between the shifts that are tried. */
const STEP = 2
/** Max mean difference from the ring, in units of the colours: other things than those beside the hole would stand in it. */
const MAX_DIFFERENCE = 14
/** Sigma in px of the blur after which a hole and its surroundings are compared. */
const SOFT = 4
/** Cost, in units of the colours, of a hole that no known pixel covers. */
const UNCOVERED = 60
/** A hole that is wider than the known pixels beside it is filled in several rounds. */
const ROUNDS = 3
/** Reduction of the difference between a moved bitmap and the ring, which is smooth. */
const FACTOR = 2

/**
 * Continues a background behind `unknown` pixels where it is `wanted`: every hole shows the bitmap moved sideways by the distance at which it
 * fits the hole's surroundings best, without a step at its edge (as Poisson image editing, Pérez et al. 2003). Level lines, such as
 * baseboards and horizons, stay level and sharp. What cannot be covered is filled smoothly.
 */
export function continueTexture(colours: Colours, { unknown, wanted }: { unknown: Mask; wanted: Mask }): Colours {
  let [filled, open] = [colours, unknown]
  for (let round = 0; round < ROUNDS; round++) {
    const next = coverHoles(filled, { open, holes: intersect(open, dilate(wanted, RING)) })
    if (!next) break
    filled = next.colours
    open = without(open, next.covered)
  }
  const smooth = fillSmoothly(filled, maskToPlane(invert(open)))
  const data = filled.data.slice()
  for (let i = 0; i < open.data.length; i++)
    if (open.data[i]) for (let k = i * 3; k < i * 3 + 3; k++) data[k] = smooth.data[k]
  return { ...filled, data }
}

// Null if no hole can be covered.
function coverHoles(
  colours: Colours,
  { open, holes }: { open: Mask; holes: Mask },
): { colours: Colours; covered: Mask } | null {
  const { labels, components } = connectedComponents(holes)
  const ring = without(dilate(holes, RING), open)
  const owner = ownersOf(ring, labels)
  const soft = blurKnown(colours, open)
  const shifts = components.map(({ label }) => bestShift(label, { soft, open, labels, owner }))
  const sourceAt = (i: number) => {
    const label = labels[i] || owner[i]
    const shift = label === 0 ? null : shifts[label - 1]
    return shift === null ? null : sourceOf(i, shift, open)
  }
  const covered = subset(holes, (i) => sourceAt(i) !== null)
  if (!covered.data.includes(1)) return null
  const rest: Colours = { ...colours, data: new Float32Array(colours.data.length) }
  const seen = subset(ring, (i) => sourceAt(i) !== null)
  const data = colours.data.slice()
  for (let i = 0; i < labels.length; i++) {
    const from = seen.data[i] || covered.data[i] ? sourceAt(i) : null
    if (from === null) continue
    for (let c = 0; c < 3; c++)
      if (seen.data[i]) rest.data[i * 3 + c] = colours.data[i * 3 + c] - colours.data[from * 3 + c]
      else data[i * 3 + c] = colours.data[from * 3 + c]
  }
  const sparse = reduceMasked(rest, seen, FACTOR)
  const smooth = fillSmoothly(sparse.colours, sparse.weight)
  const difference = mapChannels(smooth, (plane) => enlargeByFactor(plane, FACTOR, colours))
  for (let k = 0; k < data.length; k++)
    if (covered.data[Math.floor(k / 3)]) data[k] = Math.min(255, Math.max(0, data[k] + difference.data[k]))
  return { colours: { ...colours, data }, covered }
}

// The label of the hole beside each pixel of the ring.
function ownersOf({ width, data }: Mask, labels: Int32Array): Int32Array {
  const owner = new Int32Array(labels.length)
  for (let i = 0; i < owner.length; i++) {
    if (!data[i]) continue
    for (let far = 1; far <= RING && owner[i] === 0; far++)
      for (const step of [far, -far, far * width, -far * width]) owner[i] ||= labels[i + step] ?? 0
  }
  return owner
}

// Textures that are alike have the same mean colour, wherever their stones are.
function blurKnown(colours: Colours, open: Mask): Plane[] {
  const weight = maskToPlane(invert(open))
  return [0, 1, 2].map((c) => weightedBlur(channelOf(colours, c), weight, SOFT).values)
}

interface Search {
  /** The known pixels, blurred, by channel. */
  readonly soft: readonly Plane[]
  readonly open: Mask
  readonly labels: Int32Array
  readonly owner: Int32Array
}

// The horizontal shift in px at which known pixels cover the hole and its ring matches best; null if nothing matches.
function bestShift(label: number, { soft, open, labels, owner }: Search): number | null {
  const hole: number[] = []
  const ring: number[] = []
  let size = 0
  for (let i = 0; i < labels.length; i++) {
    if (owner[i] === label) ring.push(i)
    else if (labels[i] === label && size++ % 3 === 0) hole.push(i)
  }
  let best: { shift: number | null; cost: number } = { shift: null, cost: Number.POSITIVE_INFINITY }
  for (let shift = 1 - open.width; shift < open.width; shift += STEP) {
    const covered = hole.filter((i) => sourceOf(i, shift, open) !== null).length
    const apart = covered > 0 ? differenceOf(ring, shift, { soft, open }) : Number.POSITIVE_INFINITY
    const cost = apart + UNCOVERED * (1 - covered / hole.length)
    if (apart <= MAX_DIFFERENCE && cost < best.cost) best = { shift, cost }
  }
  return best.shift
}

// Mean over the pixels that exist on both sides.
function differenceOf(ring: readonly number[], shift: number, { soft, open }: Pick<Search, 'soft' | 'open'>): number {
  let [sum, count] = [0, 0]
  for (const i of ring) {
    const from = sourceOf(i, shift, open)
    if (from === null) continue
    count++
    for (const { data } of soft) sum += Math.abs(data[i] - data[from]) / 3
  }
  return count > 0 ? sum / count : Number.POSITIVE_INFINITY
}

function sourceOf(i: number, shift: number, { width, data }: Mask): number | null {
  const x = (i % width) + shift
  return x >= 0 && x < width && !data[i + shift] ? i + shift : null
}
