import type { Look } from '../../body/body-model.ts'
import { boxInView, pasteView, toFrame, type View } from '../../body/view.ts'
import { checkResult } from '../../composite/region.ts'
import type { UpperGarment } from '../../garment/garment.ts'
import { type Bitmap, bitmapToColours, maskWhere, type Point } from '../../raster/plane.ts'
import type { EngineResult } from '../engine.ts'
import type { Stages } from '../stages.ts'
import { addGrain, backgroundOf, seenShare } from './compose/grain.ts'
import { composeLayers } from './compose/occlusion-order.ts'
import { upperLandmarks } from './fit/upper/landmarks.ts'
import { refuseLooseClothes } from './fit/upper/loose-clothes.ts'
import { placeUpper } from './fit/upper/place.ts'
import { focusOn } from './fit/upper/region-of-interest.ts'
import { findRegions } from './fit/upper/regions.ts'
import { removeBelowDress } from './remove/below-dress.ts'
import { removeOldGarment } from './remove/upper/remove.ts'
import { GROUND, SKIN } from './remove/upper/zones.ts'
import { measureLight, shadeLayers } from './shade/shade.ts'
import { flattenLayers } from './warp/flat-garment.ts'
import { warpGarment } from './warp/upper.ts'

export type Dressed = Pick<EngineResult, 'image' | 'change' | 'landmarks' | 'warnings'>

/** Lays a top or a dress on the person in the frame, who was looked at for it. Throws `DrapeError` as the engine does. */
export async function dressUpper(
  { frame, look, garment }: { frame: Bitmap; look: Look; garment: UpperGarment },
  stages: Stages,
): Promise<Dressed> {
  const { composed, view, landmarks, warnings } = await dressView({ look, garment }, stages)
  const pasted = await stages.run('paste', 1, () => pasteView(frame, view, composed))
  return { ...pasted, landmarks, warnings }
}

/** What a garment makes of the view, and where that lies. */
export interface DressedView {
  readonly composed: Pick<EngineResult, 'image' | 'change'>
  readonly view: View
  readonly landmarks: Record<string, Point>
  readonly warnings: string[]
}

// On its own, so that all layers are let go before the frame is copied.
async function dressView(
  { look, garment: given }: { look: Look; garment: UpperGarment },
  stages: Stages,
): Promise<DressedView> {
  const { view: whole, person, body, parts } = look
  const { placement, garment } = await stages.run('place', 0.7, () => placeUpper({ person, body, parts }, given))
  refuseLooseClothes({ body, parts, ...placement })
  const { fitting: placed, view } = focusOn(
    whole,
    { person, body, parts, placement },
    { toFeet: garment.kind === 'dress' },
  )
  const { analysed, drawn, scale } = view
  const layers = await stages.run('warp', 0.8, () => warpGarment(garment, placed.placement, { size: drawn, scale }))
  const fitting = await stages.run('regions', 0.82, () => ({ ...placed, regions: findRegions(placed) }))
  await stages.run('shade', 0.85, () => shadeLayers(layers, measureLight(fitting)))
  const flat = await stages.run('flatten', 0.87, () => flattenLayers(layers, analysed))
  const removal = await stages.run('remove', 0.93, () => {
    const picture = bitmapToColours(analysed)
    const upper = removeOldGarment(fitting, { picture, garment: flat })
    // Below an open coat its wearer's trousers stay what they are.
    return garment.kind === 'dress' && !garment.openFront
      ? removeBelowDress(upper, fitting, { picture, cover: flat.cover })
      : upper
  })
  const composed = await stages.run('order', 0.98, () =>
    composeLayers(fitting, { picture: drawn, layers, garment: flat, removal }),
  )
  const zoneMask = (zone: number) => maskWhere(analysed, (i) => removal.zones[i] === zone)
  addGrain(composed.image, drawn, [
    { share: seenShare(zoneMask(SKIN), flat.cover), like: fitting.parts.skin },
    { share: seenShare(zoneMask(GROUND), flat.cover), like: backgroundOf(fitting.person.mask) },
  ])
  checkResult(composed, drawn, boxInView(view))
  return {
    composed,
    view,
    landmarks: toFrame(view, upperLandmarks(placed.placement)),
    warnings: [...new Set([...placement.warnings, ...layers.warnings, ...removal.warnings])],
  }
}
