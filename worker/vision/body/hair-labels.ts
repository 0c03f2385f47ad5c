import { connectedComponents } from '../raster/components.ts'
import { open } from '../raster/morphology.ts'
import { type Colours, createMask, type Mask, maskWhere, type Plane } from '../raster/plane.ts'
import { findStrands } from './hair-strands.ts'
import type { PartColours } from './part-colours.ts'
import { HAIR, SKIN, TOP } from './part-labels.ts'

/**
 * Hair is connected to the crown of the head. Unconnected pixels with the colour of hair keep their next most likely label. On the chest
 * they are top: a tie, a dark seam.
 */
export function labelTufts(labels: Mask, hairy: Mask, { crown, chest }: PartColours): void {
  const { labels: tufts } = connectedComponents(hairy)
  const grown = new Set<number>()
  const worn = new Set<number>()
  for (let i = 0; i < tufts.length; i++) {
    if (!tufts[i]) continue
    if (crown.data[i]) grown.add(tufts[i])
    if (chest.data[i]) worn.add(tufts[i])
  }
  for (let i = 0; i < tufts.length; i++) {
    if (!tufts[i]) continue
    if (grown.has(tufts[i])) labels.data[i] = HAIR
    else if (labels.data[i] === SKIN && worn.has(tufts[i])) labels.data[i] = TOP
  }
}

/**
 * Separates hair from a top of the same colour: above the shoulders, pixels that hang down from beside the face are hair; below the
 * shoulders they are top. If nothing hangs down there, pixels above that line are a collar or the shoulders of a dark jacket.
 */
export function separateHairFromTop(labels: Mask, place: Place): void {
  const { data } = labels
  const { along } = place
  const hanging = findHangingHair(labels, place)
  // A thin line of pixels that happens to connect hair and collar is neither.
  const thick = open(hanging, place.strand)
  for (let i = 0; i < data.length; i++) if (along.data[i] >= place.mouth) hanging.data[i] &= thick.data[i]
  const rest = maskWhere(labels, (i) => (data[i] === TOP || data[i] === HAIR) && hanging.data[i] === 0)
  const { labels: pieces } = connectedComponents(rest)
  const worn = new Set<number>()
  for (let i = 0; i < data.length; i++) if (rest.data[i] && along.data[i] >= COLLAR) worn.add(pieces[i])
  for (let i = 0; i < data.length; i++) {
    if (hanging.data[i] || (rest.data[i] && !worn.has(pieces[i]))) data[i] = HAIR
    else if (rest.data[i]) data[i] = TOP
  }
  continueHairBelowCollar(labels, place)
}

// Below the collar fine lines distinguish hair from cloth. Hair that ends above the collar does not continue below it.
function continueHairBelowCollar(labels: Mask, { along, across, mouth, strand, sharp }: Place): void {
  const { data } = labels
  const strands = findStrands(sharp, {
    dark: maskWhere(labels, (i) => data[i] === TOP || data[i] === HAIR),
    hair: maskWhere(labels, (i) => data[i] === HAIR && along.data[i] > mouth && along.data[i] < COLLAR),
    cloth: maskWhere(
      labels,
      (i) => data[i] === TOP && along.data[i] > CHEST[0] && along.data[i] < CHEST[1] && Math.abs(across.data[i]) < 0.35,
    ),
    either: maskWhere(
      labels,
      (i) => (data[i] === TOP || data[i] === HAIR) && along.data[i] >= COLLAR && along.data[i] < CHEST[1],
    ),
    unit: strand / 0.02,
  })
  for (let i = 0; i < data.length; i++) if (strands.data[i]) data[i] = HAIR
}

interface Place {
  readonly along: Plane
  readonly across: Plane
  /** Body coordinate F of the mouth. */
  readonly mouth: number
  /** Min half width of hair, in px. */
  readonly strand: number
  /** The unblurred bitmap in CIE Lab. */
  readonly sharp: Colours
}

// Pixels below hair are hair, and so is the narrower region between that hair and the neck: under the jaw hair comes forward.
function findHangingHair({ width, height, data }: Mask, { along, across, mouth }: Place): Mask {
  const hanging = createMask({ width, height })
  const isDark = (i: number) => (data[i] === TOP || data[i] === HAIR) && along.data[i] < COLLAR
  const isBelow = (i: number, reach: 0 | 1) =>
    i >= width + reach &&
    hanging.data[i - width - reach] + hanging.data[i - width] + hanging.data[i - width + reach] > 0
  for (let y = 0; y < height; y++) {
    const end = (y + 1) * width
    for (let i = y * width; i < end; i++) {
      const from = i
      let [first, last, count] = [end, from, 0]
      for (; i < end && isDark(i); i++) {
        if (along.data[i] >= mouth && !isBelow(i, y % SPREAD === 0 ? 1 : 0)) continue
        hanging.data[i] = 1
        first = Math.min(first, i)
        last = i
        count++
      }
      if (count <= MAX_HANGS * (i - from)) continue
      if (across.data[from] < 0) hanging.data.fill(1, last, i)
      else hanging.data.fill(1, from, first)
    }
  }
  return hanging
}

const MAX_HANGS = 0.5

// Number of rows over which hanging hair spreads by one pixel to each side.
const SPREAD = 3

const COLLAR = -0.13
// Part of a top that hair rarely covers.
const CHEST = [0.45, 0.9] as const
