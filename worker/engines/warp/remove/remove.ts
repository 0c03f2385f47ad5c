import { bothSides } from '../../../vision/body/keypoints.ts'
import { measureLegFields } from '../../../vision/body/leg-field.ts'
import { measureLeg } from '../../../vision/body/leg-profile.ts'
import { bitmapToColours, type Colours, type Plane } from '../../../vision/raster/plane.ts'
import type { Removed, Shaded } from '../dressing.ts'
import { wayAt } from '../fit/lower/skirt.ts'
import { findWornLower } from '../fit/lower/worn-mask.ts'
import type { PlacedGarment } from '../fit/upper/fitting.ts'
import { removeLower } from './lower/remove.ts'
import { BACKGROUND, LOWER, SKIN, type UpperRemoval } from './removal.ts'
import { DRESS_FROM } from './tuning.ts'
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

/**
 * Removes visible parts of worn trousers or of a skirt below and beside a dress. `photo` is the analysed bitmap in sRGB, 0
 * to 255; `cover` is the dress, 0 to 1.
 */
function removeBelowDress(
  upper: UpperRemoval,
  { person, body, parts, placement }: PlacedGarment,
  { photo, cover }: { photo: Colours; cover: Plane },
): UpperRemoval {
  const legs = bothSides((side) => measureLeg(person, body, { side }))
  const covered = bothSides((side) => wayAt(legs[side], placement.hem, body))
  const placed = { person, body, parts, legs, covered, fields: measureLegFields(parts.lower, legs, body) }
  const input = { ...placed, worn: findWornLower(placed) }
  const allowed = (i: number) =>
    parts.along.data[i] > DRESS_FROM.hips && (upper.zones[i] !== SKIN || parts.along.data[i] > DRESS_FROM.skin)
  const lower = removeLower(input, { photo, cover, allowed })
  const { data } = upper.layer
  for (let i = 0, k = 0; i < upper.zones.length; i++, k += 4) {
    const alpha = lower.layer.data[k + 3] / 255
    if (alpha === 0) continue
    for (let c = k; c < k + 4; c++) data[c] = data[c] * (1 - alpha) + lower.layer.data[c]
    if (lower.background.data[i]) upper.zones[i] = BACKGROUND
    else if (upper.zones[i] === LOWER) upper.zones[i] = SKIN
  }
  return { ...upper, warnings: [...upper.warnings.filter((code) => code !== 'OLD_GARMENT_LONGER'), ...lower.warnings] }
}
