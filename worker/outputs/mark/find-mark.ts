import { decodeImage } from '../../../api/shared/image/image.ts'
import type { MadeResult } from '../../../api/shared/provenance/result-marks.store.ts'
import { openMark } from './mark.ts'

/** Mark of an image, with its database record. */
export interface FoundMark {
  /** 10 hex digits; null if the image has no mark. */
  readonly id: string | null
  /** Engine and date of the result with this ID; null if no worker of this installation issued the ID. */
  readonly result: MadeResult | null
}

/**
 * Reads the mark of a JPEG, PNG, WebP or HEIC by the models in `folder`, and looks it up by `find`.
 * @throws Error for models that do not open; DrapeError for a file that is not an image
 */
export async function findMark(
  image: Uint8Array,
  { folder, find }: { readonly folder: string; readonly find: (id: string) => Promise<MadeResult | null> },
): Promise<FoundMark> {
  const bitmap = await decodeImage(image)
  const mark = await openMark(folder)
  const id = await mark.read(bitmap).finally(mark.release)
  return { id, result: id === null ? null : await find(id) }
}
