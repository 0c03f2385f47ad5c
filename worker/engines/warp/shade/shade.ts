import type { Shaded, Warped } from '../dressing.ts'
import { flattenLayers } from '../warp/flat-garment.ts'
import { shadePiece } from './lit-piece.ts'
import { measureLowerLight } from './lower.ts'
import { measureLight, shadeUpper } from './upper.ts'

/**
 * Puts the garment's layers into the light of the scene, where they are, and flattens them.
 *
 * The soft edge of a top is cut sharper with its light; that of trousers or a skirt counts as it was.
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
