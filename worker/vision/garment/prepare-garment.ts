import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { type Bitmap, coloursToBitmap, type Pixels } from '../raster/plane.ts'
import { type Affine, resizeAreaColours } from '../raster/sample.ts'
import { guessPresentation, type Presentation } from './classify.ts'
import type { Category, CutOut, LowerGarment, UpperGarment } from './garment.ts'
import { describeLower } from './lower-garment.ts'
import { findOpenFront, necklineOfOpenFront } from './outline/front-opening.ts'
import { findNeckline } from './outline/neckline.ts'
import { findOutline, type UpperOutline } from './outline/outline.ts'
import type { CategoryShares } from './recognize.ts'
import { mendSleeves } from './sleeve-pair.ts'

/** An upper garment with the confidence of its landmarks for later stages. */
export interface PreparedUpperGarment extends UpperGarment {
  /** False if the neckline is the default crew neck. */
  readonly necklineFound: boolean
  /** True for a sleeve that touches the body below its armpit, so that the armpit is a guess. */
  readonly guessedArmpits: readonly [boolean, boolean]
  readonly presentation: Presentation
}

export type PreparedLowerGarment = LowerGarment & { readonly presentation: Presentation }

export type PreparedGarment = PreparedUpperGarment | PreparedLowerGarment

// Overlap with the mirror image. On a plain background an outline that is less symmetric is the cut of the garment; otherwise a piece of
// the background is part of it, or a piece of the garment is missing.
const MIN_SYMMETRY_ON_BUSY = 0.9
const MIN_SYMMETRY_WORN = 0.79

/** Whether another garment was visible in the front of a garment that was cut off a person. */
export type WornFront = 'open' | 'closed'

export interface DescribeOptions {
  /** The category named in the product's text; null if the text names none. */
  readonly category: Category | null
  /** The category that the cutout shows, if it was recognized. */
  readonly shares?: CategoryShares | null
  /** Set if the garment was cut off a person. */
  readonly worn?: WornFront
}

/**
 * Rotates a cutout upright and finds its landmarks.
 * @throws DrapeError RESULT_REJECTED if the cutout does not show a single garment.
 */
export function describeGarment(cut: CutOut, { category, shares, worn }: DescribeOptions): PreparedGarment {
  const outline = findOutline(cut.alpha, { expected: expectedShape(category), shares, worn: worn !== undefined })
  if (cut.onBusyBackground && outline.symmetry < MIN_SYMMETRY_ON_BUSY)
    throw new DrapeError(
      'RESULT_REJECTED',
      'The garment cannot be separated from the background of the product photo. Use a photo on a plain background.',
    )
  if (worn && outline.symmetry < MIN_SYMMETRY_WORN)
    throw new DrapeError(
      'RESULT_REJECTED',
      'The person in the product photo is turned, or hides a part of the garment.',
    )
  if (outline.kind === 'trousers' || outline.kind === 'skirt') {
    const image = drawUpright(cut, outline.canvas.toImage, outline.canvas.side)
    return { ...describeLower(outline, image), presentation: worn ? 'on_model' : 'flat_lay' }
  }
  return prepareUpper(cut, outline, worn)
}

function prepareUpper(cut: CutOut, outline: UpperOutline, worn?: WornFront): PreparedUpperGarment {
  const { canvas } = outline
  const image = drawUpright(cut, canvas.toImage, canvas.side)
  const { sides, landmarks, foldedSleeve } = mendSleeves(outline)
  const { axis } = canvas
  const openFront = findOpenFront(image, { axis, torsoWidth: outline.torsoWidth, landmarks })
  if (worn === 'open' && !openFront)
    throw new DrapeError(
      'RESULT_REJECTED',
      'The edges of the open garment on the person in the product photo cannot be found.',
    )
  const neckline = openFront
    ? { points: necklineOfOpenFront(openFront), found: true }
    : findNeckline(image, { ...outline, worn: worn !== undefined }, [landmarks[0].neck, landmarks[1].neck])
  return {
    kind: outline.kind,
    kindFrom: outline.kindFrom,
    image,
    axis,
    sides,
    landmarks,
    foldedSleeve,
    sleeved: outline.sleeved,
    neckline: neckline.points,
    openFront,
    torsoWidth: outline.torsoWidth,
    symmetry: outline.symmetry,
    angle: outline.angle,
    necklineFound: neckline.found,
    guessedArmpits: outline.guessedArmpits,
    presentation: worn ? 'on_model' : guessPresentation(outline),
  }
}

function expectedShape(category: Category | null): 'upper' | 'dress' | 'lower' | undefined {
  if (category === 'tops' || category === 'outerwear') return 'upper'
  if (category === 'one-pieces') return 'dress'
  return category === 'bottoms' ? 'lower' : undefined
}

// Premultiplied, bilinear. Skips the empty part of the canvas, which is most of it.
function drawUpright({ colours, alpha }: CutOut, toImage: Affine, side: number): Pixels {
  const { width, height, data: cover } = alpha
  const out = new Uint8ClampedArray(side * side * 4)
  const [a, b, c, d, e, f] = toImage
  for (let y = 0, to = 0; y < side; y++) {
    for (let x = 0; x < side; x++, to += 4) {
      const u = a * x + b * y + c
      const v = d * x + e * y + f
      const column = Math.floor(u)
      const row = Math.floor(v)
      if (column < 0 || row < 0 || column >= width - 1 || row >= height - 1) continue
      const i = row * width + column
      const right = u - column
      const down = v - row
      const upperLeft = (1 - right) * (1 - down) * cover[i]
      const upperRight = right * (1 - down) * cover[i + 1]
      const lowerLeft = (1 - right) * down * cover[i + width]
      const lowerRight = right * down * cover[i + width + 1]
      const share = upperLeft + upperRight + lowerLeft + lowerRight
      if (share === 0) continue
      for (let channel = 0, k = 3 * i; channel < 3; channel++, k++) {
        out[to + channel] =
          upperLeft * colours.data[k] +
          upperRight * colours.data[k + 3] +
          lowerLeft * colours.data[k + 3 * width] +
          lowerRight * colours.data[k + 3 * width + 3]
      }
      out[to + 3] = 255 * share
    }
  }
  return { width: side, height: side, channels: 4, data: out }
}

export function limitSide(bitmap: Bitmap, longest: number): Bitmap {
  const share = longest / Math.max(bitmap.width, bitmap.height)
  if (share >= 1) return bitmap
  const size = { width: Math.round(bitmap.width * share), height: Math.round(bitmap.height * share) }
  return coloursToBitmap(resizeAreaColours(bitmap, size))
}
