import { setImmediate } from 'node:timers/promises'
import { DrapeError } from '../../../api/shared/errors.ts'
import { type Rectangle, resizeBitmap } from '../../../api/shared/image.ts'
import { copyRgb } from '../../composite/blend.ts'
import { checkResult } from '../../composite/region.ts'
import { categoryOfOutline, isWorn } from '../../garment/classify.ts'
import type { UpperGarment } from '../../garment/garment.ts'
import { prepareUpperGarment } from '../../garment/prepare-garment.ts'
import type { Models } from '../../inference/models.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Person } from '../../person/person.ts'
import { type Bitmap, bitmapToColours, createPlane } from '../../raster/plane.ts'
import type { Engine, EngineContext, EngineInput, EngineManifest, EngineResult } from '../engine.ts'
import { measureBody } from './body.ts'
import { flattenLayers } from './flat-garment.ts'
import { focusOn } from './focus.ts'
import { composeLayers } from './order.ts'
import { findParts } from './parts.ts'
import { placeGarment } from './place.ts'
import { findRegions } from './regions.ts'
import { removeOldGarment } from './remove.ts'
import { measureLight, shadeLayers } from './shade.ts'
import { createView, type View } from './view.ts'
import { warpGarment } from './warp.ts'

export const WARP_MANIFEST: EngineManifest = {
  name: 'warp',
  version: '1.0.0',
  kind: 'preview',
  license: { spdx: 'Apache-2.0', commercial: true },
  accepts: {
    categories: ['tops', 'one-pieces', 'outerwear', 'other'],
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    needsPerson: true,
  },
  aiGenerated: false,
}

/** Longest side of the pictures that garments are drawn on, in px. */
const DRAWN_SIDE = 1280
const GARMENTS_KEPT = 8

/**
 * The engine that lays the product's own pixels on the person, without a generative model. What depends on the garment alone
 * is kept for the last few garments.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION when the product photo shows a worn garment,
 * RESULT_REJECTED when garment or pose cannot be shown this way, and the signal's reason when it is aborted.
 */
export function createWarpEngine({ models }: { models: Models }): Engine {
  const garments = new Map<string, UpperGarment>()
  return {
    manifest: WARP_MANIFEST,
    run: (input, context) => run(input, context, { models, garments }),
  }
}

interface Resources {
  readonly models: Models
  readonly garments: Map<string, UpperGarment>
}

async function run(input: EngineInput, context: EngineContext, resources: Resources): Promise<EngineResult> {
  const stages = createStages(context)
  const frame = await stages.run('resize', 0.02, () => limitSide(input.person))
  const seen = await stages.run('person', 0.2, () => personOf(input, frame, resources))
  if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
  const garment = await stages.run('garment', 0.5, () => garmentOf(input, resources))
  const whole = await stages.run('view', 0.52, () => createView(frame, seen, { long: garment.kind === 'dress' }))
  const { person } = whole
  const body = await stages.run('body', 0.55, () => measureBody(person))
  const parts = await stages.run('parts', 0.65, () => findParts(whole.analysed, person, body))
  const placement = await stages.run('place', 0.7, () => placeGarment({ person, body, parts, garment }))
  const { fitting: placed, view } = focusOn(whole, { person, body, parts, placement })
  const { analysed, drawn, scale } = view
  const layers = await stages.run('warp', 0.8, () => warpGarment(garment, placed.placement, { size: drawn, scale }))
  const fitting = await stages.run('regions', 0.82, () => ({ ...placed, regions: findRegions(placed) }))
  await stages.run('shade', 0.85, () => shadeLayers(layers, measureLight(fitting)))
  const flat = await stages.run('flatten', 0.87, () => flattenLayers(layers, analysed))
  const removal = await stages.run('remove', 0.93, () =>
    removeOldGarment(fitting, { picture: bitmapToColours(analysed), garment: flat }),
  )
  const composed = await stages.run('order', 1, () =>
    composeLayers(fitting, { picture: drawn, layers, garment: flat, removal }),
  )
  checkResult(composed, drawn, boxIn(view))
  return {
    ...intoFrame(frame, view, composed),
    category: categoryOfOutline(garment.kind),
    timings: stages.timings,
    warnings: [...new Set([...placement.warnings, ...layers.warnings, ...removal.warnings])],
  }
}

/** Runs stages one after the other; between them an abort can arrive and is obeyed. */
function createStages({ signal, onProgress }: EngineContext) {
  const timings: Record<string, number> = {}
  return {
    timings,
    async run<T>(name: string, share: number, work: () => T | Promise<T>): Promise<T> {
      await setImmediate()
      signal.throwIfAborted()
      const start = performance.now()
      const result = await work()
      timings[name] = Math.round(performance.now() - start)
      onProgress(share)
      return result
    },
  }
}

async function limitSide(photo: Bitmap): Promise<Bitmap> {
  if (Math.max(photo.width, photo.height) <= DRAWN_SIDE) return copyRgb(photo)
  return copyRgb(await resizeBitmap(photo, { longest: DRAWN_SIDE }))
}

/** Whom the caller has found already, as long as the photo was not made smaller since. */
async function personOf({ person, found }: EngineInput, frame: Bitmap, { models }: Resources): Promise<Person | null> {
  if (found && frame.width === person.width) return found
  return findPerson(frame, models)
}

async function garmentOf(
  { garment, garmentHash, category }: EngineInput,
  { models, garments }: Resources,
): Promise<UpperGarment> {
  const key = `${garmentHash} ${category}`
  const kept = garments.get(key)
  if (kept) {
    // Moved to the end: the first of the map is the one that was not asked for the longest.
    garments.delete(key)
    garments.set(key, kept)
    return kept
  }
  const wearer = await findPerson(garment, models, { small: false })
  if (wearer && isWorn(wearer))
    throw new DrapeError('MISSING_REQUIRED_CLASSIFICATION', 'The product photo shows the garment on a person', {
      details: { key: 'flat_lay' },
    })
  const prepared = prepareUpperGarment(garment, { category })
  if (prepared.kind !== 'top' && prepared.kind !== 'dress')
    throw new DrapeError('RESULT_REJECTED', `A preview of ${prepared.kind} cannot be made; only tops and dresses can`)
  garments.set(key, prepared)
  for (const oldest of [...garments.keys()].slice(0, Math.max(0, garments.size - GARMENTS_KEPT)))
    garments.delete(oldest)
  return prepared
}

// The person's bounds in the drawn picture's px.
function boxIn({ person: { box }, scale }: View): Rectangle {
  return { x: box.x * scale, y: box.y * scale, width: box.width * scale, height: box.height * scale }
}

function intoFrame(
  frame: Bitmap,
  { box }: View,
  { image, change }: Pick<EngineResult, 'image' | 'change'>,
): Pick<EngineResult, 'image' | 'change'> {
  const out = copyRgb(frame)
  const share = createPlane(frame)
  for (let row = 0; row < box.height; row++) {
    const to = (box.y + row) * frame.width + box.x
    out.data.set(image.data.subarray(row * box.width * 3, (row + 1) * box.width * 3), to * 3)
    share.data.set(change.data.subarray(row * box.width, (row + 1) * box.width), to)
  }
  return { image: out, change: share }
}
