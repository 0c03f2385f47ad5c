import { bitmapToColours } from '../../../vision/raster/plane.ts'
import type { Removed, Shaded } from '../dressing.ts'
import { removeBelowDress } from './below-dress.ts'
import { removeLower } from './lower/remove.ts'
import { removeUpper } from './upper/remove.ts'

/** Removes the visible parts of the worn garment. Throws as `removeUpper` and `removeLower` do. */
export function removeWorn(shaded: Shaded): Removed {
  const photo = bitmapToColours(shaded.view.analysed)
  const { flat } = shaded
  if (shaded.kind === 'lower')
    return { ...shaded, removal: removeLower(shaded, { photo, cover: flat.cover, allowed: () => true }) }
  const removal = removeUpper(shaded, { photo, garment: flat })
  // Trousers below an open coat stay unchanged.
  const isClosedDress = shaded.garment.kind === 'dress' && !shaded.garment.openFront
  return {
    ...shaded,
    removal: isClosedDress ? removeBelowDress(removal, shaded, { photo, cover: flat.cover }) : removal,
  }
}
