import { bitmapToColours } from '../../../raster/plane.ts'
import type { Removed, Shaded } from '../dressing.ts'
import { removeBelowDress } from './below-dress.ts'
import { removeOldLower } from './lower/remove.ts'
import { removeOldGarment } from './upper/remove.ts'

/** Takes away what stays visible of the worn garment. Throws as `removeOldGarment` and `removeOldLower` do. */
export function removeWorn(shaded: Shaded): Removed {
  const picture = bitmapToColours(shaded.view.analysed)
  const { flat } = shaded
  if (shaded.kind === 'lower')
    return { ...shaded, removal: removeOldLower(shaded, { picture, cover: flat.cover, allowed: () => true }) }
  const removal = removeOldGarment(shaded, { picture, garment: flat })
  // Below an open coat its wearer's trousers stay what they are.
  const isClosedDress = shaded.garment.kind === 'dress' && !shaded.garment.openFront
  return {
    ...shaded,
    removal: isClosedDress ? removeBelowDress(removal, shaded, { picture, cover: flat.cover }) : removal,
  }
}
