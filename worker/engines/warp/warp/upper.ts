import { DrapeError } from '../../../../api/shared/errors.ts'
import type { UpperGarment } from '../../../garment/garment.ts'
import type { Point, Size } from '../../../raster/plane.ts'
import { type BackwardMap, type Layer, remapCubic, remapPlane } from '../../../raster/remap.ts'
import type { Placement } from '../fit/upper/place.ts'
import { mapMesh } from './mesh.ts'
import { cutPattern, type Pattern } from './pattern.ts'
import { mapTorso } from './torso-map.ts'

export interface SleeveLayer {
  /** 0 = the picture's left arm, 1 = its right arm. */
  readonly side: 0 | 1
  readonly layer: Layer
  /** Position across the sleeve in 127ths: −127 at the outer edge, 0 in the middle and outside of the sleeve, 127 at the inner edge. */
  readonly across: Int8Array
}

/** A garment in the shape it takes on a person; all of the output's size. */
export interface GarmentLayers {
  readonly torso: Layer
  /** The inside of the back that shows through the neck opening. */
  readonly back: Layer
  readonly sleeves: readonly SleeveLayer[]
  /** Share of the torso, and of each sleeve in order, that is turned over itself, 0 to 1. */
  readonly folds: { readonly torso: number; readonly sleeves: readonly number[] }
  readonly warnings: readonly string[]
}

// The thin-plate spline is evaluated at every sixth pixel of the analysed picture.
const NODE_STEP = 6

// Shares of folded cloth above which a landmark must have been wrong, or may have been.
const REFUSED_TORSO_FOLD = 0.02
const REFUSED_SLEEVE_FOLD = 0.3
const DOUBTFUL_SLEEVE_FOLD = 0.18

/**
 * Warps torso and sleeves to their places. `scale` is px of the output per px of the analysed picture.
 *
 * Throws `DrapeError` RESULT_REJECTED when a piece would fold over itself.
 */
export function warpGarment(
  garment: UpperGarment,
  placement: Placement,
  { size, scale }: { size: Size; scale: number },
): GarmentLayers {
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
  refuseFolds(folds)
  return {
    ...warpTorso(pattern, torsoMap, size),
    sleeves: sleeveMaps.map((map, i) => ({
      side: placement.sleeves[i].side,
      layer: remapCubic(pattern.image, map, size),
      across: unfoldBox(map.across, map, size),
    })),
    folds,
    warnings: folds.sleeves.some((fold) => fold > DOUBTFUL_SLEEVE_FOLD) ? ['SLEEVE_FOLDED'] : [],
  }
}

function refuseFolds({ torso, sleeves }: GarmentLayers['folds']): void {
  if (torso > REFUSED_TORSO_FOLD || Math.max(0, ...sleeves) > REFUSED_SLEEVE_FOLD)
    throw new DrapeError(
      'RESULT_REJECTED',
      'The garment cannot be laid on the person in this pose without folding over',
    )
}

function warpTorso(pattern: Pattern, map: BackwardMap, size: Size): Pick<GarmentLayers, 'torso' | 'back'> {
  const torso = remapCubic(pattern.image, map, size)
  const back: Layer = { ...torso, data: new Uint8ClampedArray(torso.data.length) }
  const share = remapPlane(pattern.torso, map).data
  const opening = remapPlane(pattern.opening, map).data
  for (let row = 0, i = 0; row < map.box.height; row++) {
    let at = 4 * ((row + map.box.top) * size.width + map.box.left)
    for (let column = 0; column < map.box.width; column++, i++) {
      for (let end = at + 4; at < end; at++) {
        if (opening[i] > 0) back.data[at] = torso.data[at] * share[i] * opening[i]
        torso.data[at] *= share[i] * (1 - opening[i])
      }
    }
  }
  return { torso, back }
}

// A box's values in 127ths for the whole output, 0 where there are none.
function unfoldBox(values: Float32Array, { box }: BackwardMap, size: Size): Int8Array {
  const unfolded = new Int8Array(size.width * size.height)
  for (let row = 0, i = 0; row < box.height; row++) {
    const to = (row + box.top) * size.width + box.left
    for (let column = 0; column < box.width; column++, i++)
      unfolded[to + column] = Number.isNaN(values[i]) ? 0 : Math.round(127 * Math.min(Math.max(values[i], -1), 1))
  }
  return unfolded
}
