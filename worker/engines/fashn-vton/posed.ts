import type { Rectangle } from '../../../api/shared/image.ts'
import type { Models } from '../../inference/models.ts'
import type { Person } from '../../person/person.ts'
import type { Bitmap } from '../../raster/plane.ts'
import { type Bytes, onWhite } from '../diffusion/bytes.ts'
import { findWearer, type TrainedCategory } from '../diffusion/product.ts'
import { fitOnCanvas, limitToCanvas, placeOnCanvas } from './canvas.ts'
import type { Posed } from './conditions.ts'
import { poseOf } from './keypoints.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { agnosticMask } from './masked/agnostic-mask.ts'
import { paintOver } from './masked/paint-over.ts'
import type { Others } from './others.ts'
import { wholeBodyOf } from './pose.ts'
import { placeAnyProduct, placeProduct } from './product.ts'
import { drawSkeleton } from './skeleton.ts'

export interface PoseParts extends Others {
  readonly manifest: Pick<FashnVtonManifest, 'size'>
  readonly models: Models
}

/**
 * The photo on the canvas, what is worn painted over where there is a parser, and the skeleton of the person in it, drawn at the photo's
 * size before both are brought there.
 */
export async function posePerson(
  photo: Bitmap,
  { seen, category }: { seen: Person; category: TrainedCategory },
  { manifest: { size }, wholeBody, parser }: PoseParts,
): Promise<Posed & { readonly place: Rectangle }> {
  const limited = limitToCanvas(onWhite(photo), size)
  const people = wholeBody ? await wholeBody.find(limited) : [wholeBodyOf(seen, photo, limited)]
  const skeleton = drawSkeleton(poseOf(people, limited), limited)
  const picture = parser ? paintOver(limited, agnosticMask(await parser.parse(limited), category)) : limited
  return {
    picture: fitOnCanvas(picture, size),
    skeleton: fitOnCanvas(skeleton, size, { exact: true }),
    place: placeOnCanvas(limited, size),
  }
}

/** The product photo on the canvas, cut out of it where somebody wears the garment and there is a parser. Throws as `placeProduct`. */
export function poseProduct(
  photo: Bitmap,
  category: TrainedCategory,
  { manifest: { size }, models, wholeBody, parser }: PoseParts,
): Promise<Posed> {
  if (!parser) return placeProduct(photo, size, models)
  const skeletonOf = async (picture: Bytes): Promise<Bytes | null> => {
    const wearer = await findWearer({ ...picture, channels: 3 }, models)
    if (!wearer) return null
    const people = wholeBody ? await wholeBody.find(picture) : [wholeBodyOf(wearer, picture, picture)]
    return drawSkeleton(poseOf(people, picture), picture)
  }
  return placeAnyProduct(photo, category, { canvas: size, parser, skeletonOf })
}
