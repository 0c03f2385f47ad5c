import { drawHands } from '../person/hand-area.ts'
import type { PersonLabels } from '../person/parse.ts'
import type { Person } from '../person/person.ts'
import { rgbToLab } from '../raster/colour.ts'
import { medianColour, samplesOf } from '../raster/colour-model.ts'
import { gaussianBlurColours } from '../raster/filter.ts'
import { countSet, union, withLabel } from '../raster/mask.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  createMask,
  createPlane,
  type Mask,
  type Plane,
  type Size,
} from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { between } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { bothSides } from './keypoints.ts'
import { DRESS, HAIR, LOWER, labelParts, SKIN, TOP } from './part-labels.ts'
import { DRESS_SLEEVE, DRESS_WAIST, NECK } from './tuning.ts'

/** Segmentation of the person by colour and position. All masks have the size of the analysed bitmap. */
export interface Parts {
  readonly skin: Mask
  readonly top: Mask
  readonly lower: Mask
  readonly hair: Mask
  /** Body coordinates F and X of every pixel (see BodyFrame). */
  readonly along: Plane
  readonly across: Plane
  /** The slightly blurred bitmap in CIE Lab. */
  readonly lab: Colours
  /** Median Lab of visible skin; null if no skin is visible. */
  readonly skinColour: readonly [number, number, number] | null
  readonly hasFace: boolean
}

/** Labels every pixel of the person as skin, top, lower garment or hair, from the parser's labels in px of the bitmap. */
export function findParts(
  bitmap: Bitmap,
  person: Person,
  { body, parsed }: { body: BodyFrame; parsed: PersonLabels },
): Parts {
  const rgb = bitmapToColours(bitmap)
  const lab = gaussianBlurColours(rgbToLab(rgb), Math.max(0.7, 0.006 * body.unit))
  const { along, across } = bodyCoordinates(bitmap, body)
  const labels = labelParts({ rgb, lab }, { mask: person.mask, parsed, unit: body.unit })
  const seen = drawHands(bitmap, person.hands)
  for (let i = 0; i < labels.data.length; i++) if (seen.data[i] > 0.5) labels.data[i] = SKIN
  nameClothes(labels, { mask: person.mask, along, forearms: dressedForearms(labels, body) })
  const skin = withLabel(labels, labels.data, SKIN)
  return {
    skin,
    top: withLabel(labels, labels.data, TOP),
    lower: withLabel(labels, labels.data, LOWER),
    hair: withLabel(labels, labels.data, HAIR),
    along,
    across,
    lab,
    skinColour: countSet(skin) > MIN_SKIN ? medianColour(samplesOf(lab, skin)) : null,
    hasFace: person.landmarks.nose.visibility > 0.5,
  }
}

// A dress is a top above the waist and on the arms, and a lower garment below. Ties, scarves and collars of shirts are worn, not carried.
function nameClothes({ data }: Mask, { mask, along, forearms }: { mask: Plane; along: Plane; forearms: Mask }): void {
  for (let i = 0; i < data.length; i++) {
    const f = along.data[i]
    if (data[i] === DRESS) data[i] = f < DRESS_WAIST || forearms.data[i] ? TOP : LOWER
    else if (data[i] === 0 && mask.data[i] > 0.5 && f > NECK[0] && f < NECK[1]) data[i] = TOP
  }
}

const FOREARM_PARTS = 8

// Where the bones of a forearm are hidden by a dress, its sleeve is around them. Beside a bare forearm the dress is its skirt.
function dressedForearms(labels: Mask, { joints, armRadius }: BodyFrame): Mask {
  const { width, height, data } = labels
  const sides = bothSides((side) => {
    const [elbow, wrist] = [joints.elbow[side], joints.wrist[side]]
    const at = (share: number) => between(elbow, wrist, share / FOREARM_PARTS)
    const isDressed = (part: number) => {
      const [x, y] = [Math.round(at(part + 0.5).x), Math.round(at(part + 0.5).y)]
      return x >= 0 && y >= 0 && x < width && y < height && data[y * width + x] === DRESS
    }
    const radius = DRESS_SLEEVE * armRadius[side]
    const parts = Array.from({ length: FOREARM_PARTS }, (_, part) => part).filter(isDressed)
    return parts
      .map((part) => fillCapsules(labels, [at(part), at(part + 1)], [radius, radius]))
      .reduce((all, one) => union(all, one), createMask(labels))
  })
  return union(...sides)
}

// Min count of pixels for the colour of skin.
const MIN_SKIN = 50

function bodyCoordinates(size: Size, body: BodyFrame): { along: Plane; across: Plane } {
  const along = createPlane(size)
  const across = createPlane(size)
  const { shoulders, down, right, trunk, unit } = body
  for (let y = 0, i = 0; y < size.height; y++) {
    const dy = y - shoulders.y
    for (let x = 0; x < size.width; x++, i++) {
      const dx = x - shoulders.x
      along.data[i] = (dx * down.x + dy * down.y) / trunk
      across.data[i] = (dx * right.x + dy * right.y) / unit
    }
  }
  return { along, across }
}
