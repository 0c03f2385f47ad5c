import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { resizeBitmap } from '../../../api/shared/image/image.ts'
import { ofImage } from '../../../api/shared/image/image-field.ts'
import type { Models } from '../../inference/models.ts'
import { createStages, type Stages } from '../../job/stages.ts'
import { type BodyModel, measureBodyModel } from '../../vision/body/body-model.ts'
import { pasteView, toFrame } from '../../vision/body/view.ts'
import { copyRgb } from '../../vision/composite/blend.ts'
import { detectGarment } from '../../vision/garment/classify.ts'
import { runGarmentModels } from '../../vision/garment/garment-models.ts'
import type { PreparedGarment } from '../../vision/garment/prepare-garment.ts'
import { findWearer } from '../../vision/garment/worn/wearer.ts'
import { cutOffWearer, type WornGarment } from '../../vision/garment/worn/worn-garment.ts'
import { findPerson } from '../../vision/person/find-person.ts'
import type { Person } from '../../vision/person/person.ts'
import { personAtSize } from '../../vision/person/within.ts'
import type { Bitmap } from '../../vision/raster/plane.ts'
import { type Engine, type EngineContext, type EngineInput, type EngineResult, manifestOf } from '../engine.ts'
import { composeView } from './compose/compose.ts'
import { fitGarment } from './fit/fit.ts'
import { createGarmentCache, type GarmentCache, longestSideOf } from './garment-cache.ts'
import { removeWorn } from './remove/remove.ts'
import { shadeGarment } from './shade/shade.ts'
import { warpGarment } from './warp/warp.ts'

export const WARP_MANIFEST = manifestOf('warp', {
  version: '1.10.0',
  needsPerson: true,
  aiGenerated: false,
  ignores: ['seed', 'mode'],
})

/** Longest side in px of the bitmap that garments are drawn on: for screen resolution, and for full resolution. */
const DRAWN_SIDE = { screen: 1280, full: 3200 } as const

interface Resources {
  readonly models: Models
  readonly garments: GarmentCache
  /** Body models of persons, as long as their callers keep them. */
  readonly bodies: WeakMap<Person, BodyModel>
}

/**
 * The engine that warps the product's own pixels onto the person, without a generative model. Caches the data of the last
 * few garments.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION if a product photo that is classified as on_model shows
 * no person, RESULT_REJECTED if the engine cannot show the garment or the pose, and the signal's reason after an abort.
 */
export function createWarpEngine({ models }: { models: Models }): Engine {
  const garments = createGarmentCache(runGarmentModels(models))
  const bodies = new WeakMap<Person, BodyModel>()
  return {
    manifest: WARP_MANIFEST,
    run: (input, context) => run(input, context, { models, garments, bodies }),
    prefetch: garments.prefetch,
    cache: garments,
    release: garments.stop,
  }
}

async function run(input: EngineInput, context: EngineContext, resources: Resources): Promise<EngineResult> {
  const { garments } = resources
  const stages = createStages(context, { large: input.options.fullResolution })
  if (input.options.fullResolution) garments.evictOthers(input)
  const frame = await stages.run('resize', 0.02, () => limitSide(input))
  const seen = await stages.run('person', 0.2, () => personOf(input, frame, resources))
  if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
  const cached = garments.get(input)
  const started = cached ?? garments.start(input)
  const worn = cached
    ? null
    : await stages.run('wearer', 0.24, () => ofImage('product', withoutWearer(input, resources)))
  // While the garment is being prepared, the category predicts whether the legs are needed.
  const category = worn?.category ?? input.category
  const expected = cached ? needsLegs(cached) : LEGS_EXPECTED[category ?? 'other']
  const bodyModel = (long: boolean) => bodyModelOf(input, { frame, seen, long, stages, ...resources })
  const early = started && expected !== null ? await bodyModel(expected) : null
  const preparing = stages.run('garment', 0.5, async () =>
    worn ? garments.prepare({ ...input, ...worn }, worn.worn) : (started ?? garments.prepare(input)),
  )
  const garment = await ofImage('product', preparing)
  if (!cached) garments.set(input, garment)
  const long = needsLegs(garment)
  const model = early?.long === long ? early : await bodyModel(long)
  const { view, composed, ...result } = await dress(model, garment, stages)
  const pasted = await stages.run('paste', 1, () => pasteView(frame, view, composed))
  const { labels } = model
  return { ...pasted, ...result, labels, detected: detectGarment(garment), timings: stages.timings }
}

// A separate function, so that all layers are garbage before the frame is copied.
async function dress(model: BodyModel, garment: PreparedGarment, stages: Stages) {
  const fitting = await stages.run('place', 0.7, () => fitGarment(model, garment))
  const warped = await stages.run('warp', 0.8, () => warpGarment(fitting))
  const shaded = await stages.run('shade', 0.87, () => shadeGarment(warped))
  const removed = await stages.run('remove', 0.93, () => removeWorn(shaded))
  const composed = await stages.run('order', 0.98, () => composeView(removed))
  const { view, landmarks, layers, removal } = removed
  const warnings = garment.presentation === 'on_model' ? ['GARMENT_FROM_MODEL'] : []
  const found = [...new Set([...fitting.warnings, ...layers.warnings, ...removal.warnings])]
  const hidesTops = fitting.kind === 'upper' && fitting.placement.openFront === null
  return { composed, view, landmarks: toFrame(view, landmarks), hidesTops, warnings: [...warnings, ...found] }
}

/** Whether garments of a category usually need the legs; null if unknown. */
const LEGS_EXPECTED = { tops: false, outerwear: false, 'one-pieces': true, bottoms: true, other: null } as const

function needsLegs({ kind }: PreparedGarment): boolean {
  return kind !== 'top'
}

async function limitSide({ person, options }: EngineInput): Promise<Bitmap> {
  const longest = DRAWN_SIDE[options.fullResolution ? 'full' : 'screen']
  const frame = Math.max(person.width, person.height) <= longest ? person : await resizeBitmap(person, { longest })
  return frame.channels === 3 ? frame : copyRgb(frame)
}

/** The person that the caller has already detected, at the frame's size. */
async function personOf({ person, found }: EngineInput, frame: Bitmap, { models }: Resources): Promise<Person | null> {
  if (!found) return findPerson(frame, models)
  return frame.width === person.width ? found : personAtSize(found, frame)
}

async function bodyModelOf(
  { found, options }: EngineInput,
  {
    stages,
    bodies,
    ...photo
  }: Pick<Resources, 'bodies' | 'models'> & { frame: Bitmap; seen: Person; long: boolean; stages: Stages },
): Promise<BodyModel> {
  const known = found ? bodies.get(found) : undefined
  if (known?.long === photo.long && !options.fullResolution) return known
  const model = await measureBodyModel(photo, stages)
  if (found && !options.fullResolution) bodies.set(found, model)
  return model
}

/** The garment without the person who wears it in the product photo; null if the photo shows the garment alone. */
async function withoutWearer(input: EngineInput, { models }: Resources): Promise<WornGarment | null> {
  const { garment, garmentType, category } = input
  const wearer = await findWearer({ photo: garment, garmentType }, models)
  if (!wearer && garmentType !== 'on_model') return null
  if (!wearer)
    throw new DrapeError('MISSING_REQUIRED_CLASSIFICATION', 'No person was found in the product photo.', {
      details: { key: 'flat_lay' },
    })
  return cutOffWearer(garment, wearer, { category, longest: longestSideOf(input), models })
}
