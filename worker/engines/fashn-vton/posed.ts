import type { Rectangle } from '../../../api/shared/image/image.ts'
import type { Person } from '../../vision/person/person.ts'
import { type Bytes, createBytes, onWhite } from '../../vision/raster/bytes.ts'
import { invert } from '../../vision/raster/mask.ts'
import type { Bitmap } from '../../vision/raster/plane.ts'
import { fitOnCanvas, HIDDEN, limitToCanvas, placeOnCanvas } from './canvas.ts'
import type { TrainedCategory } from './category.ts'
import type { Posed } from './conditions.ts'
import type { WholeBodyFinder } from './dwpose/find-people.ts'
import { poseOf } from './keypoints.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { agnosticMask } from './masked/agnostic-mask.ts'
import { paintOver } from './parser/paint-over.ts'
import { wholeBodyOf } from './pose.ts'
import type { ProductPhoto } from './product.ts'
import { drawSkeleton } from './skeleton.ts'
import type { ThirdPartyModels } from './third-party-models.ts'

export interface PoseParts extends ThirdPartyModels {
  readonly manifest: Pick<FashnVtonManifest, 'size'>
}

/**
 * Draws the skeleton of the person at the size of the photo, then fits the photo and the skeleton on the canvas. With a parser, masks
 * the worn clothes.
 */
export async function posePerson(
  photo: Bitmap,
  { seen, category }: { seen: Person; category: TrainedCategory },
  { manifest: { size }, wholeBody, parser }: PoseParts,
): Promise<Posed & { readonly place: Rectangle }> {
  const limited = limitToCanvas(onWhite(photo), size)
  const people = wholeBody ? await wholeBody.find(limited) : [wholeBodyOf(seen, photo, limited)]
  const skeleton = drawSkeleton(poseOf(people, limited), limited)
  const bitmap = parser ? paintOver(limited, agnosticMask(await parser.parse(limited), category), HIDDEN) : limited
  return {
    bitmap: fitOnCanvas(bitmap, size),
    skeleton: fitOnCanvas(skeleton, size, { exact: true }),
    place: placeOnCanvas(limited, size),
  }
}

/**
 * Fits the product photo on the canvas. If a person wears the garment, fills everything except the garment with grey, without
 * cropping, and returns the wearer's skeleton, as in the published pre-processing of on-model photos. Otherwise returns no
 * skeleton.
 * @throws MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`
 */
export async function poseProduct(
  product: ProductPhoto,
  category: TrainedCategory,
  { manifest: { size }, wholeBody }: PoseParts,
): Promise<Posed> {
  const bitmap = await product.bitmap()
  const worn = await product.worn(category)
  if (!worn) return { bitmap: fitOnCanvas(bitmap, size), skeleton: createBytes(size, 1) }
  return {
    bitmap: fitOnCanvas(paintOver(bitmap, invert(worn.mask), HIDDEN), size),
    skeleton: fitOnCanvas(await skeletonOfWearer(bitmap, worn.wearer, wholeBody), size, { exact: true }),
  }
}

/** The skeleton of the wearer in a product photo; blank if no model finds a wearer. */
async function skeletonOfWearer(
  bitmap: Bytes,
  wearer: Person | null,
  wholeBody: WholeBodyFinder | null,
): Promise<Bytes> {
  if (wholeBody) return drawSkeleton(poseOf(await wholeBody.find(bitmap), bitmap), bitmap)
  return wearer ? drawSkeleton(poseOf([wholeBodyOf(wearer, bitmap, bitmap)], bitmap), bitmap) : createBytes(bitmap, 1)
}
