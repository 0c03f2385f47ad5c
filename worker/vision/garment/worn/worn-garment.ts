import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import type { Models } from '../../../inference/models.ts'
import { measureArm } from '../../body/arm-profile.ts'
import { type BodyFrame, measureBody } from '../../body/body-frame.ts'
import { bothSides } from '../../body/keypoints.ts'
import { labelParts } from '../../body/part-labels.ts'
import { isSeated } from '../../body/seated.ts'
import { LABELS, parsePerson } from '../../person/parse.ts'
import type { Person } from '../../person/person.ts'
import { personAtSize } from '../../person/within.ts'
import { onWhite } from '../../raster/bytes.ts'
import { rgbToLab } from '../../raster/colour.ts'
import { featherMask } from '../../raster/feather.ts'
import { gaussianBlurColours } from '../../raster/filter.ts'
import { threshold } from '../../raster/mask.ts'
import { erode } from '../../raster/morphology.ts'
import { type Bitmap, bitmapToColours, type Colours, type Mask } from '../../raster/plane.ts'
import { createPyramid } from '../../raster/pyramid.ts'
import type { Category } from '../garment.ts'
import { limitSide, type WornFront } from '../prepare-garment.ts'
import { completeGarment } from './complete-worn.ts'
import { CLOTHES, chooseGarment, kindsOf, rejected } from './worn-choice.ts'

/** A garment without its wearer. */
export interface WornGarment {
  /** RGBA: the garment alone, with what hair, arms and bags hide completed. */
  readonly garment: Bitmap
  readonly category: Category
  readonly worn: WornFront
}

const EACH_LABEL = {
  groups: LABELS.map((label) => [label]),
  clothes: CLOTHES.map((label) => LABELS.indexOf(label)),
  distinct: true,
}

/**
 * Cuts the garment of the category off the person who wears it; without a category, the outermost one on the upper body. `longest` is the
 * longest side of the cutout in px.
 * @throws DrapeError RESULT_REJECTED if the photo shows no such garment or hides too much of it, or if the person is turned or seated
 */
export async function cutOffWearer(
  bitmap: Bitmap,
  wearer: Person,
  { category, longest, models }: { category: Category | null; longest: number; models: Models },
): Promise<WornGarment> {
  const photo = limitSide(onWhite(bitmap), longest)
  const person = personAtSize(wearer, photo)
  const body = measureWearer(person)
  const parsed = await parsePerson(createPyramid(photo), person, models.session('parser'))
  const rgb = bitmapToColours(photo)
  const lab = gaussianBlurColours(rgbToLab(rgb), Math.max(0.7, 0.006 * body.unit))
  const labels = labelParts({ rgb, lab }, { mask: person.mask, parsed, unit: body.unit }, EACH_LABEL)
  const choice = chooseGarment({ labels, lab }, category)
  if ((choice.category === 'bottoms' || choice.category === 'one-pieces') && isSeated(body))
    throw rejected('The person in the product photo is not standing. Send a photo of the garment alone.')
  const arms = bothSides((side) => measureArm(person.mask, body, side))
  const seen = kindsOf(labels, { choice, unit: body.unit })
  const { colours, garment } = completeGarment({ colours: rgb, seen, body, arms }, choice)
  return {
    garment: drawCutOut(colours, garment, body.unit),
    category: choice.category,
    worn: choice.inside ? 'open' : 'closed',
  }
}

function measureWearer(person: Person): BodyFrame {
  try {
    return measureBody(person)
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    throw rejected('The person in the product photo is not seen from the front. Send a photo of the garment alone.')
  }
}

// Standard deviation in body units that removes the steps of the parser's cells from the outline.
const SMOOTHING = 0.01

function drawCutOut({ data: colours }: Colours, garment: Mask, unit: number): Bitmap {
  const smooth = threshold(featherMask(garment, SMOOTHING * unit), 0.5)
  const alpha = featherMask(erode(smooth, 1), 0.8)
  const data = new Uint8ClampedArray(4 * alpha.data.length)
  for (let i = 0; i < alpha.data.length; i++) {
    for (let c = 0; c < 3; c++) data[4 * i + c] = colours[3 * i + c]
    data[4 * i + 3] = 255 * alpha.data[i]
  }
  return { width: garment.width, height: garment.height, channels: 4, data: new Uint8Array(data.buffer) }
}
