import { boxInView } from '../../../vision/body/view.ts'
import { checkResult } from '../../../vision/composite/check-result.ts'
import { withLabel } from '../../../vision/raster/mask.ts'
import type { Mask } from '../../../vision/raster/plane.ts'
import type { EngineResult } from '../../engine.ts'
import type { Removed } from '../dressing.ts'
import { BACKGROUND, SKIN } from '../remove/removal.ts'
import { addGrain, backgroundOf, seenShare } from './grain.ts'
import { composeLower } from './lower/compose.ts'
import { composeUpper } from './upper/compose.ts'

/** Composes the result image and the blend factor of each pixel, in the size of the drawn bitmap. Throws as `checkResult` does. */
export function composeView(removed: Removed): Pick<EngineResult, 'image' | 'change'> {
  const { view, parts, person, flat } = removed
  const { drawn: photo } = view
  const composed =
    removed.kind === 'upper'
      ? composeUpper(removed, { photo, layers: removed.layers, garment: flat, removal: removed.removal })
      : composeLower(removed, { photo, pieces: removed.layers.pieces, cover: flat.cover, removal: removed.removal })
  const { skin, background } = inventedIn(removed)
  addGrain(composed.image, photo, [
    { share: seenShare(skin, flat.cover), like: parts.skin },
    { share: seenShare(background, flat.cover), like: backgroundOf(person.mask) },
  ])
  checkResult(composed, photo, boxInView(view))
  return composed
}

function inventedIn(removed: Removed): { skin: Mask; background: Mask } {
  if (removed.kind === 'lower') return removed.removal
  const { zones } = removed.removal
  const maskOf = (zone: number) => withLabel(removed.view.analysed, zones, zone)
  return { skin: maskOf(SKIN), background: maskOf(BACKGROUND) }
}
