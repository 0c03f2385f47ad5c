import { boxInView } from '../../../vision/body/view.ts'
import { checkResult } from '../../../vision/composite/check-result.ts'
import type { EngineResult } from '../../engine.ts'
import type { Removed } from '../dressing.ts'
import { composeLower } from './lower/compose.ts'
import { composeUpper } from './upper/compose.ts'

/** Composes the result image and the blend factor of each pixel, in the size of the drawn bitmap. Throws as `checkResult` does. */
export function composeView(removed: Removed): Pick<EngineResult, 'image' | 'change'> {
  const { view, flat } = removed
  const { drawn: photo } = view
  const composed =
    removed.kind === 'upper'
      ? composeUpper(removed, { photo, layers: removed.layers, garment: flat, removal: removed.removal })
      : composeLower(removed, { photo, pieces: removed.layers.pieces, cover: flat.cover, removal: removed.removal })
  checkResult(composed, photo, boxInView(view))
  return composed
}
