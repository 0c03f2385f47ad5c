import type { Parts } from '../../../../vision/body/parts.ts'
import { apartInLight } from '../../../../vision/raster/colour.ts'
import { keepComponents } from '../../../../vision/raster/components.ts'
import { featherMask } from '../../../../vision/raster/feather.ts'
import { open } from '../../../../vision/raster/morphology.ts'
import { type Plane, subset } from '../../../../vision/raster/plane.ts'
import { cellAt } from '../../../../vision/raster/reduce.ts'
import type { WornGarment } from '../../remove/removal.ts'
import { HANGING_TOP, LAP } from '../tuning.ts'

/**
 * Brings the thighs of a seated person, which are in front of the hem, to the front, in place. `front` is the share of objects in front of
 * the garment, 0 to 1.
 */
export function bringLapToFront(
  front: Plane,
  {
    parts: { lower, along, lab },
    worn,
    unit,
    softness,
  }: { parts: Parts; worn: Pick<WornGarment, 'cloth'>; unit: number; softness: number },
): void {
  const { cells } = worn.cloth
  const isTop = (i: number) => {
    const cell = cellAt(worn.cloth, lab, i)
    const colour = [cells.data[cell], cells.data[cell + 1], cells.data[cell + 2]] as const
    return apartInLight(lab, i, { colour, lightness: LAP.lightness }) < LAP.difference
  }
  const lap = keepComponents(
    subset(lower, (i) => along.data[i] > LAP.from && !isTop(i)),
    ({ area }) => area > HANGING_TOP.area * unit ** 2,
  )
  const soft = featherMask(open(lap, LAP.width * unit), softness)
  for (let i = 0; i < front.data.length; i++) front.data[i] = Math.max(front.data[i], soft.data[i])
}
