import type { Look } from '../../body/body-model.ts'
import { boxInView, pasteView, toFrame } from '../../body/view.ts'
import { checkResult } from '../../composite/region.ts'
import type { LowerGarment } from '../../garment/garment.ts'
import { type Bitmap, bitmapToColours, type Plane, type Size } from '../../raster/plane.ts'
import type { Layer } from '../../raster/remap.ts'
import type { Stages } from '../stages.ts'
import { addGrain, backgroundOf, seenShare } from './compose/grain.ts'
import { composeLower } from './compose/lower.ts'
import type { Dressed, DressedView } from './dress-upper.ts'
import { placeLower } from './fit/lower/place.ts'
import { removeOldLower } from './remove/lower/remove.ts'
import { measureLegFields } from './remove/lower/worn-mask.ts'
import { measureLowerLight } from './shade/lower.ts'
import { shadePiece } from './shade/shade.ts'
import { flattenLayers } from './warp/flat-garment.ts'
import { warpLower } from './warp/lower.ts'

/** Lays trousers or a skirt on the person in the frame, who was looked at for it. Throws `DrapeError` as the engine does. */
export async function dressLower(
  { frame, look, garment }: { frame: Bitmap; look: Look; garment: LowerGarment },
  stages: Stages,
): Promise<Dressed> {
  const { composed, view, landmarks, warnings } = await dressView({ look, garment }, stages)
  const pasted = await stages.run('paste', 1, () => pasteView(frame, view, composed))
  return { ...pasted, landmarks, warnings }
}

// On its own, so that all pieces are let go before the frame is copied.
async function dressView(
  { look, garment }: { look: Look; garment: LowerGarment },
  stages: Stages,
): Promise<DressedView> {
  const { view, person, body, parts } = look
  const { analysed, drawn, scale } = view
  const placement = await stages.run('place', 0.7, () => placeLower({ person, body, parts, garment }))
  const { pieces } = await stages.run('warp', 0.78, () => warpLower(garment, placement, { size: drawn, scale }))
  const { legs, covered } = placement
  const input = { person, body, parts, legs, covered, fields: measureLegFields(parts.lower, legs, body) }
  const cover = await stages.run('flatten', 0.82, () => coverOf(pieces, analysed))
  const removal = await stages.run('remove', 0.88, () =>
    removeOldLower(input, { picture: bitmapToColours(analysed), cover, allowed: () => true }),
  )
  await stages.run('shade', 0.93, () => {
    const light = measureLowerLight(input, { worn: removal.worn, kind: garment.kind })
    for (const piece of pieces) shadePiece(piece, light)
  })
  const composed = await stages.run('order', 0.98, () =>
    composeLower({ person, body, parts, placement }, { picture: drawn, pieces, cover, removal }),
  )
  const { skin, background } = removal
  addGrain(composed.image, drawn, [
    { share: seenShare(skin, cover), like: parts.skin },
    { share: seenShare(background, cover), like: backgroundOf(person.mask) },
  ])
  checkResult(composed, drawn, boxInView(view))
  return {
    composed,
    view,
    landmarks: toFrame(view, placement.landmarks),
    warnings: [...placement.warnings, ...removal.warnings],
  }
}

function coverOf(pieces: readonly Layer[], size: Size): Plane {
  const [first, second] = pieces
  const { cover } = flattenLayers(
    {
      torso: first,
      back: first,
      sleeves: second ? [{ side: 0, layer: second, across: new Int8Array(0) }] : [],
      folds: { torso: 0, sleeves: [] },
      warnings: [],
    },
    size,
  )
  return cover
}
