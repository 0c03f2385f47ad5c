import { cropBitmap } from '../../../api/shared/image/image.ts'
import { drawHands } from '../person/hand-area.ts'
import type { Person } from '../person/person.ts'
import { apartInLight, leastInLight, rgbToLab } from '../raster/colour.ts'
import { countOf, learnColours, medianColour, samplesOf } from '../raster/colour-model.ts'
import { componentsTouching } from '../raster/components.ts'
import { cropPlane, type Window, windowAround } from '../raster/crop.ts'
import { below, countSet, subset, threshold, without, withValue } from '../raster/mask.ts'
import { type Bitmap, bitmapToColours, type Colours, type Mask, type Plane } from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { between } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { bothSides, type Side } from './keypoints.ts'

// Above SURE a mask value is certainly the person, below NONE certainly not.
const SURE = 0.9
const NONE = 0.05
// Max distance of a pixel from the hand's colour as a share of its distance from the background, and min distance from the background.
const LIKENESS = 0.5
const MIN_APART = 10
// Weight of a difference in lightness: fingers shade each other, the background is lit evenly.
const SKIN_LIGHTNESS = 0.15
const BACKGROUND_LIGHTNESS = 0.6

/**
 * Adds to the person's mask the pixels of hands that the mask misses: visible pixels connected to the hand that have the hand's hue and
 * differ from the surrounding background. `bitmap` is the analysed bitmap.
 */
export function completeHands(bitmap: Bitmap, person: Person, body: BodyFrame): Person {
  const missed = bothSides((side) => findMissed(bitmap, person.mask, { body, side }))
  if (person.hands.length === 0 && !missed.some((fingers) => fingers)) return person
  const mask: Plane = { ...person.mask, data: person.mask.data.slice() }
  const seen = drawHands(mask, person.hands)
  for (let i = 0; i < mask.data.length; i++) if (seen.data[i] > SURE) mask.data[i] = 1
  for (const fingers of missed) if (fingers) addFingers(mask, fingers)
  return { ...person, mask }
}

interface Fingers {
  readonly window: Window
  readonly mask: Mask
}

function addFingers(mask: Plane, { window, mask: fingers }: Fingers): void {
  for (let i = 0; i < fingers.data.length; i++) {
    if (!fingers.data[i]) continue
    const row = window.y + Math.floor(i / window.width)
    mask.data[row * mask.width + window.x + (i % window.width)] = 1
  }
}

function findMissed(
  bitmap: Bitmap,
  mask: Plane,
  { body: { armRadius, joints }, side }: { body: BodyFrame; side: Side },
): Fingers | null {
  const radius = armRadius[side]
  const chain = [0.3, 1, 2].map((share) => between(joints.wrist[side], joints.knuckles[side], share))
  const window = windowAround(chain, 2 * radius, mask)
  if (window.width < 2 || window.height < 2) return null
  const inside = chain.map(({ x, y }) => ({ x: x - window.x, y: y - window.y }))
  const near = fillCapsules(window, inside, [radius, 1.25 * radius, 1.1 * radius])
  const bones = fillCapsules(window, inside.slice(0, 2), [0.35 * radius, 0.35 * radius])
  const seen = cropPlane(mask, window)
  const isHand = handTest(rgbToLab(bitmapToColours(cropBitmap(bitmap, window))), { bones, seen })
  if (!isHand) return null
  const alike = subset(near, isHand)
  const sure = withValue(bones, seen, { over: SURE })
  const fingers = without(componentsTouching(alike, sure), threshold(seen, 0.5))
  return countSet(fingers) > 0 ? { window, mask: fingers } : null
}

// Tests whether a pixel resembles the back of the hand rather than the background; null if one of the two is not visible.
function handTest(lab: Colours, { bones, seen }: { bones: Mask; seen: Plane }): ((i: number) => boolean) | null {
  const hand = samplesOf(lab, bones, seen)
  const background = learnColours(samplesOf(lab, below(seen, NONE)), 3)
  if (countOf(hand) < 12 || background.length === 0) return null
  const tone = medianColour(hand)
  return (i) => {
    const toHand = apartInLight(lab, i, { colour: tone, lightness: SKIN_LIGHTNESS })
    const toBackground = leastInLight(lab, i, background, BACKGROUND_LIGHTNESS)
    return toBackground > MIN_APART && toHand < LIKENESS * toBackground
  }
}
