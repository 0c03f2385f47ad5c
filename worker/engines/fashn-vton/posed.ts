import type { Rectangle } from '../../../api/shared/image.ts'
import type { Person } from '../../person/person.ts'
import { type Bytes, createBytes, onWhite } from '../../raster/bytes.ts'
import type { Bitmap } from '../../raster/plane.ts'
import { fitOnCanvas, HIDDEN, limitToCanvas, placeOnCanvas } from './canvas.ts'
import type { TrainedCategory } from './category.ts'
import type { Posed } from './conditions.ts'
import { poseOf } from './keypoints.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { agnosticMask } from './masked/agnostic-mask.ts'
import { paintOver } from './parser/paint-over.ts'
import { wholeBodyOf } from './pose.ts'
import { placeProduct } from './product.ts'
import type { ProductPhoto } from './product-photo.ts'
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

/** The product photo on the canvas with the skeleton of its wearer (blank without a wearer). Throws as `placeProduct`. */
export function poseProduct(
  product: ProductPhoto,
  category: TrainedCategory,
  { manifest: { size }, wholeBody }: PoseParts,
): Promise<Posed> {
  const skeletonOf = async (bitmap: Bytes, wearer: Person | null): Promise<Bytes> => {
    if (wholeBody) return drawSkeleton(poseOf(await wholeBody.find(bitmap), bitmap), bitmap)
    return wearer ? drawSkeleton(poseOf([wholeBodyOf(wearer, bitmap, bitmap)], bitmap), bitmap) : createBytes(bitmap, 1)
  }
  return placeProduct(product, category, { canvas: size, skeletonOf })
}
