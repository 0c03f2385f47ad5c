import type { Rectangle } from '../../../api/shared/image/image.ts'
import type { Person } from '../../vision/person/person.ts'
import { type Bytes, createBytes, onWhite } from '../../vision/raster/bytes.ts'
import type { Bitmap, Mask } from '../../vision/raster/plane.ts'
import { fitOnCanvas, HIDDEN, limitToCanvas, placeOnCanvas } from './canvas.ts'
import type { TrainedCategory } from './category.ts'
import type { Posed } from './conditions.ts'
import type { WholeBodyFinder } from './dwpose/find-people.ts'
import { poseOf } from './keypoints.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { wholeBodyOf } from './pose.ts'
import type { ProductPhoto } from './product.ts'
import { drawSkeleton } from './skeleton.ts'

export interface PoseParts {
  readonly manifest: Pick<FashnVtonManifest, 'size'>
  /** DWPose. Without it BlazePose's points are drawn. */
  readonly wholeBody: WholeBodyFinder | null
}

/** Draws the skeleton of the person at the size of the photo, then fits the photo and the skeleton on the canvas. */
export async function posePerson(
  photo: Bitmap,
  seen: Person,
  { manifest: { size }, wholeBody }: PoseParts,
): Promise<Posed & { readonly place: Rectangle }> {
  const limited = limitToCanvas(onWhite(photo), size)
  const people = wholeBody ? await wholeBody.find(limited) : [wholeBodyOf(seen, photo, limited)]
  const skeleton = drawSkeleton(poseOf(people, limited), limited)
  return {
    bitmap: fitOnCanvas(limited, size),
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
  const people = wholeBody ? await wholeBody.find(bitmap) : [wholeBodyOf(worn.wearer, bitmap, bitmap)]
  return {
    bitmap: fitOnCanvas(hideAllBut(worn.mask, bitmap), size),
    skeleton: fitOnCanvas(drawSkeleton(poseOf(people, bitmap), bitmap), size, { exact: true }),
  }
}

function hideAllBut({ data: shown }: Mask, bitmap: Bytes): Bytes {
  const data = bitmap.data.map((byte, i) => (shown[Math.floor(i / bitmap.channels)] ? byte : HIDDEN))
  return { ...bitmap, data }
}
