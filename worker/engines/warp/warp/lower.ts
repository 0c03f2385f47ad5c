import { unusable } from '../../../vision/body/body-frame.ts'
import type { LowerGarment } from '../../../vision/garment/garment.ts'
import { gaussianBlurColours } from '../../../vision/raster/filter.ts'
import type { Pixels, Point, Size } from '../../../vision/raster/plane.ts'
import { remapCubic } from '../../../vision/raster/remap.ts'
import { resizeAreaColours } from '../../../vision/raster/sample.ts'
import { distance } from '../../../vision/raster/vector.ts'
import type { LowerPlacement, Piece } from '../fit/lower/fitting.ts'
import type { PointGrid } from '../fit/patch.ts'
import type { LowerLayers } from './layers.ts'
import { mapMesh } from './mesh.ts'
import { REDUCTION, REFUSED_FOLD } from './tuning.ts'

/**
 * Warps all pieces to the person. `scale` is px of the output per px of the analysed bitmap.
 *
 * Throws `DrapeError` RESULT_REJECTED if a piece would fold over itself.
 */
export function warpLower(
  garment: LowerGarment,
  { pieces }: LowerPlacement,
  { size, scale }: { size: Size; scale: number },
): LowerLayers {
  const { image, px } = reduceImage(garment.image, reductionOf(pieces[0]) / scale)
  const toImage = ({ x, y }: Point): Point => ({ x: (x + 0.5) * px - 0.5, y: (y + 0.5) * px - 0.5 })
  const toOutput = ({ x, y }: Point): Point => ({ x: (x + 0.5) * scale - 0.5, y: (y + 0.5) * scale - 0.5 })
  const maps = pieces.map(({ source, target }) => mapMesh(mapGrid(source, toImage), mapGrid(target, toOutput), size))
  if (Math.max(...maps.map(({ folded }) => folded)) > REFUSED_FOLD.lower)
    throw unusable('The garment cannot be fitted to the legs in this pose')
  return { pieces: maps.map((map) => remapCubic(image, map, size)), warnings: [] }
}

function mapGrid(grid: PointGrid, map: (point: Point) => Point): PointGrid {
  return grid.map((row) => row.map(map))
}

// Garment px per px of the person along the longest lines of the grid.
function reductionOf({ source, target }: Piece): number {
  const way = (grid: PointGrid) =>
    grid
      .slice(1)
      .reduce(
        (sum, row, i) => sum + distance(row[0], grid[i][0]) + distance(row[row.length - 1], grid[i][row.length - 1]),
        0,
      )
  return way(source) / Math.max(1, way(target))
}

// Downscales to at most 1.5 times the final resolution and blurs for the remaining factor.
function reduceImage(image: Pixels, reduction: number): { image: Pixels; px: number } {
  if (reduction <= REDUCTION.unblurred) return { image, px: 1 }
  const by = Math.max(1, reduction / REDUCTION.kept)
  const side = Math.ceil(image.width / by)
  return {
    image: gaussianBlurColours(
      resizeAreaColours(image, { width: side, height: side }),
      (REDUCTION.sigma * reduction) / by,
    ),
    px: side / image.width,
  }
}
