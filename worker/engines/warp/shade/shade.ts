import type { Shaded, Warped } from '../dressing.ts'
import { flattenLayers } from '../warp/flat-garment.ts'
import { shadePiece } from './lit-piece.ts'
import { measureLowerLight } from './lower.ts'
import { measureLight, shadeUpper } from './upper.ts'

/**
 * Applies the light of the scene to the garment's layers, in place, and flattens them.
 *
 * Sharpens the soft edge of a top together with its light; uses the original edge of trousers or a skirt.
 */
export function shadeGarment(warped: Warped): Shaded {
  const { analysed } = warped.view
  if (warped.kind === 'upper') {
    shadeUpper(warped.layers, measureLight(warped))
    return { ...warped, flat: flattenLayers(warped.layers, analysed) }
  }
  const [first, ...others] = warped.layers.pieces
  const flat = flattenLayers({ torso: first, sleeves: others.map((layer) => ({ layer })) }, analysed)
  const light = measureLowerLight(warped, warped.garment.kind)
  for (const piece of warped.layers.pieces) shadePiece(piece, light)
  return { ...warped, flat }
}
