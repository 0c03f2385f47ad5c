import { componentsTouching } from '../../../../vision/raster/components.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import { countSet, intersect, subset, union, without } from '../../../../vision/raster/mask.ts'
import { dilate, open } from '../../../../vision/raster/morphology.ts'
import type { Mask } from '../../../../vision/raster/plane.ts'
import { fillBeyond } from '../../../../vision/raster/polygon.ts'
import { difference, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { between, subtract, unit } from '../../../../vision/raster/vector.ts'
import { HAIR } from '../tuning.ts'
import type { PlacedGarment } from './fitting.ts'

/**
 * Hair in front of the garment and beside the neck. White collars resemble grey hair, and dark ones a hat: hair below the chin must
 * resemble the hair above.
 */
export function findHair({ person, body, parts }: PlacedGarment): Mask {
  const { hair, lab } = parts
  const { nose, mouthLeft, mouthRight } = person.landmarks
  const mouth = between(mouthLeft, mouthRight, 0.5)
  const up = unit(subtract(nose, mouth))
  const above = intersect(hair, fillBeyond(hair, mouth, up))
  if (countSet(above) === 0) return hair
  const factor = Math.max(1, Math.round(body.unit / 64))
  const known = reduceMasked(lab, above, factor)
  const cells = fillSmoothly(known.colours, known.weight)
  const differs = (i: number) => difference(lab, { cells, factor }, i)
  const grown = withoutLoosePatches(hair, above, {
    strand: HAIR.strand * body.unit,
    isStrange: (i) => differs(i) > HAIR.strange,
  })
  const alike = union(
    intersect(grown, above),
    subset(without(grown, above), (i) => differs(i) < HAIR.other),
  )
  if (countSet(grown) - countSet(alike) < HAIR.collar * body.unit ** 2) return grown
  // The blurred edge of a collar resembles hair again.
  const thick = open(alike, HAIR.thick * body.unit)
  const sure = intersect(alike, union(above, thick))
  // A region that does not touch cloth is not a collar: hair beside the neck is in its own shade.
  return without(grown, componentsTouching(without(grown, sure), dilate(parts.top, 2)))
}

// At most a thin line beside the neck connects the inside of a collar with the hair.
function withoutLoosePatches(
  hair: Mask,
  above: Mask,
  { strand, isStrange }: { strand: number; isStrange: (i: number) => boolean },
): Mask {
  const broad = open(hair, strand)
  const hanging = componentsTouching(broad, above)
  const around = dilate(subset(without(broad, hanging), isStrange), strand + 1)
  const firm = without(hair, without(around, above, hanging))
  const ends = componentsTouching(firm, dilate(around, 1))
  const held = componentsTouching(firm, above)
  return without(firm, without(ends, held))
}
