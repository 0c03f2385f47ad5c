import { drawHands } from '../person/hand-area.ts'
import type { Person } from '../person/person.ts'
import { rgbToLab } from '../raster/colour.ts'
import { samplesOf } from '../raster/colour-model.ts'
import { gaussianBlurColours } from '../raster/filter.ts'
import { countSet, withLabel } from '../raster/mask.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  createPlane,
  type Mask,
  type Plane,
  type Size,
} from '../raster/plane.ts'
import { between, dot, subtract } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { labelTufts, separateHairFromTop } from './hair-labels.ts'
import { findShadedHands } from './hand-skin.ts'
import { learnPartColours, medianColour, type PartColours } from './part-colours.ts'
import { HAIR, LOWER, labelByColour, SKIN, TOP } from './part-labels.ts'

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
  /** Body coordinate F at which the lower garment begins in the middle, or null if it cannot be separated from the top. */
  readonly waistline: number | null
}

/**
 * Labels every pixel of the person as skin, top, lower garment or hair: first by the colours that each label has where it is expected,
 * then corrected for hair and for hands in the shade.
 */
export function findParts(bitmap: Bitmap, person: Person, body: BodyFrame): Parts {
  const rgb = bitmapToColours(bitmap)
  const sharp = rgbToLab(rgb)
  const lab = gaussianBlurColours(sharp, Math.max(0.7, 0.006 * body.unit))
  const { along, across } = bodyCoordinates(bitmap, body)
  const colours = learnPartColours(lab, { person, body, along, across })
  const { labels, hairy } = labelByColour({ rgb, lab, along, across }, { mask: person.mask, body, colours })
  labelTufts(labels, hairy, colours)
  if (colours.hairLikeTop)
    separateHairFromTop(labels, { along, across, mouth: mouthLevel(person, body), strand: 0.02 * body.unit, sharp })
  const clothes = [...colours.top, ...colours.lower]
  const hands = findShadedHands({ lab, sharp, mask: person.mask, skin: maskOf(labels, SKIN), body, clothes })
  const seen = drawHands(bitmap, person.hands)
  for (let i = 0; i < hands.data.length; i++) if (hands.data[i] || seen.data[i] > 0.5) labels.data[i] = SKIN
  const skin = maskOf(labels, SKIN)
  return {
    skin,
    top: maskOf(labels, TOP),
    lower: maskOf(labels, LOWER),
    hair: maskOf(labels, HAIR),
    along,
    across,
    lab,
    skinColour: skinColourOf(lab, skin, colours),
    hasFace: colours.hasFace,
    waistline: colours.waistline,
  }
}

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

function mouthLevel({ landmarks }: Person, { shoulders, down, trunk }: BodyFrame): number {
  return dot(subtract(between(landmarks.mouthLeft, landmarks.mouthRight, 0.5), shoulders), down) / trunk
}

function maskOf(labels: Mask, part: number): Mask {
  return withLabel(labels, labels.data, part)
}

function skinColourOf(
  lab: Colours,
  skin: Mask,
  { skin: model }: PartColours,
): readonly [number, number, number] | null {
  if (model.length === 0) return null
  if (countSet(skin) > 50) return medianColour(samplesOf(lab, skin))
  const { mean } = model[0]
  return [mean[0], mean[1], mean[2]]
}
