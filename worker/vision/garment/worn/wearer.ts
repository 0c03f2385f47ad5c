import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { showsGarmentAlone } from '../../../../api/shared/generations/generation.ts'
import type { Models } from '../../../inference/models.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Box, Person } from '../../person/person.ts'
import { boundsOf } from '../../raster/crop.ts'
import type { Bitmap } from '../../raster/plane.ts'
import { isWorn } from '../classify.ts'
import { cutOut } from '../cut-out/cut-out.ts'

/** Min distance of a print from each side of its garment, as a share of the garment's width or height. */
const MIN_MARGIN = 0.03
/** Min share of the garment outside of a print's box. A wearer's box contains almost all of the foreground. */
const MIN_OUTSIDE = 0.4

/**
 * The person who wears the garment in a product photo; null if the photo shows the garment alone. The caller's classification
 * decides if it names a garment alone; a photo of a person printed on a garment shows no wearer.
 */
export async function findWearer(
  { photo, garmentType }: { photo: Bitmap; garmentType: string | null | undefined },
  models: Models,
): Promise<Person | null> {
  if (showsGarmentAlone(garmentType)) return null
  const person = await findPerson(photo, models, { small: false })
  if (garmentType === 'on_model') return person
  return person && isWorn(person) && !isPrinted(person.box, photo) ? person : null
}

/** Whether the box lies inside of one garment on a plain background. On a busy background a print cannot be told from a wearer. */
function isPrinted(box: Box, photo: Bitmap): boolean {
  const alpha = findAlpha(photo)
  const bounds = alpha && boundsOf(alpha, 0.5)
  if (!bounds) return false
  const gaps = [
    (box.x - bounds.x) / bounds.width,
    (bounds.x + bounds.width - box.x - box.width) / bounds.width,
    (box.y - bounds.y) / bounds.height,
    (bounds.y + bounds.height - box.y - box.height) / bounds.height,
  ]
  return gaps.every((gap) => gap > MIN_MARGIN) && shareOutside(alpha, box) > MIN_OUTSIDE
}

function findAlpha(photo: Bitmap) {
  try {
    return cutOut(photo).alpha
  } catch (error) {
    if (error instanceof DrapeError && error.code === 'RESULT_REJECTED') return null
    throw error
  }
}

function shareOutside({ width, data }: { width: number; data: ArrayLike<number> }, { x, y, ...box }: Box): number {
  let [total, outside] = [0, 0]
  for (let i = 0; i < data.length; i++) {
    if (data[i] <= 0.5) continue
    const [column, row] = [i % width, Math.floor(i / width)]
    total++
    if (column < x || column >= x + box.width || row < y || row >= y + box.height) outside++
  }
  return outside / total
}
