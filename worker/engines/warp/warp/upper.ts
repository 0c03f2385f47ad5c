import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import type { UpperGarment } from '../../../vision/garment/garment.ts'
import type { Point, Size } from '../../../vision/raster/plane.ts'
import { type BackwardMap, type Layer, remapCubic, remapPlane } from '../../../vision/raster/remap.ts'
import type { Placement } from '../fit/upper/fitting.ts'
import type { UpperLayers } from './layers.ts'
import { mapMesh } from './mesh.ts'
import { cutPattern, type Pattern } from './pattern.ts'
import { mapTorso } from './torso-map.ts'
import { DOUBTFUL_FOLD, NODE_STEP, REFUSED_FOLD } from './tuning.ts'

/**
 * Warps torso and sleeves to the person. `scale` is px of the output per px of the analysed bitmap.
 *
 * Throws `DrapeError` RESULT_REJECTED if a piece would fold over itself.
 */
export function warpUpper(
  garment: UpperGarment,
  placement: Placement,
  { size, scale }: { size: Size; scale: number },
): UpperLayers {
  const pattern = cutPattern(garment, placement, scale)
  const toOutput = ({ x, y }: Point): Point => ({ x: (x + 0.5) * scale - 0.5, y: (y + 0.5) * scale - 0.5 })
  const torsoMap = mapTorso(
    { source: pattern.controls, target: placement.target.map(toOutput) },
    { margin: 4 * NODE_STEP * scale, step: NODE_STEP * scale, size, torso: pattern.torso },
  )
  const sleeveMaps = placement.sleeves.map(({ target }, i) =>
    mapMesh(
      pattern.sleeves[i],
      target.map((row) => row.map(toOutput)),
      size,
    ),
  )
  const folds = { torso: torsoMap.folded, sleeves: sleeveMaps.map(({ folded }) => folded) }
  rejectFolds(folds)
  return {
    ...warpTorso(pattern, torsoMap, size),
    sleeves: sleeveMaps.map((map, i) => ({
      side: placement.sleeves[i].side,
      layer: remapCubic(pattern.image, map, size),
      across: unfoldBox(map.across, map, size),
    })),
    folds,
    warnings: folds.sleeves.some((fold) => fold > DOUBTFUL_FOLD) ? ['SLEEVE_FOLDED'] : [],
  }
}

function rejectFolds({ torso, sleeves }: UpperLayers['folds']): void {
  if (torso > REFUSED_FOLD.torso || Math.max(0, ...sleeves) > REFUSED_FOLD.sleeve)
    throw new DrapeError(
      'RESULT_REJECTED',
      'The garment cannot be laid on the person in this pose without folding over',
    )
}

function warpTorso(pattern: Pattern, map: BackwardMap, size: Size): Pick<UpperLayers, 'torso' | 'back'> {
  const share = remapPlane(pattern.torso, map).data
  // Only the torso is drawn.
  for (let i = 0; i < share.length; i++) if (share[i] === 0) map.x[i] = Number.NaN
  const torso = remapCubic(pattern.image, map, size)
  const back: Layer = { ...torso, data: new Uint8ClampedArray(torso.data.length) }
  const opening = remapPlane(pattern.opening, map).data
  for (let row = 0, i = 0; row < map.box.height; row++) {
    let at = 4 * ((row + map.box.y) * size.width + map.box.x)
    for (let column = 0; column < map.box.width; column++, i++, at += 4) {
      const [own, open] = [share[i], opening[i]]
      if (own === 0 || (own === 1 && open === 0)) continue
      for (let k = at; k < at + 4; k++) {
        if (open > 0) back.data[k] = torso.data[k] * own * open
        torso.data[k] *= own * (1 - open)
      }
    }
  }
  return { torso, back }
}

// A box's values in 127ths, expanded to the whole output; 0 outside the box.
function unfoldBox(values: Float32Array, { box }: BackwardMap, size: Size): Int8Array {
  const unfolded = new Int8Array(size.width * size.height)
  for (let row = 0, i = 0; row < box.height; row++) {
    const to = (row + box.y) * size.width + box.x
    for (let column = 0; column < box.width; column++, i++)
      unfolded[to + column] = Number.isNaN(values[i]) ? 0 : Math.round(127 * Math.min(Math.max(values[i], -1), 1))
  }
  return unfolded
}
