import { DrapeError } from '../../../api/shared/errors.ts'
import { resizeBitmap } from '../../../api/shared/image.ts'
import { copyRgb } from '../../composite/blend.ts'
import { detectGarment, isWorn } from '../../garment/classify.ts'
import { type PreparedGarment, prepareGarment } from '../../garment/prepare-garment.ts'
import type { Models } from '../../inference/models.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Person } from '../../person/person.ts'
import { personAtSize } from '../../person/within.ts'
import type { Bitmap } from '../../raster/plane.ts'
import type { Engine, EngineContext, EngineInput, EngineManifest, EngineResult } from '../engine.ts'
import { createStages } from '../stages.ts'
import { dressUpper } from './dress-upper.ts'
import { dressLower } from './lower/dress-lower.ts'

export const WARP_MANIFEST: EngineManifest = {
  name: 'warp',
  version: '1.3.0',
  kind: 'preview',
  license: { spdx: 'Apache-2.0', commercial: true },
  accepts: {
    categories: ['tops', 'bottoms', 'one-pieces', 'outerwear', 'other'],
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    needsPerson: true,
  },
  aiGenerated: false,
}

/** Longest side in px of the pictures that garments are drawn on, and of product photos: enough for a screen, or for everything. */
const SIDES = { screen: { drawn: 1280, garment: 1400 }, full: { drawn: 3200, garment: 2400 } } as const
/** Bytes of prepared garments that are kept: about seven of those for the screen; of those in full only the last one. */
const KEPT_BYTES = 64e6
const LARGE_BYTES = 12e6

/**
 * The engine that lays the product's own pixels on the person, without a generative model. What depends on the garment alone
 * is kept for the last few garments.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION when the product photo shows a worn garment,
 * RESULT_REJECTED when garment or pose cannot be shown this way, and the signal's reason when it is aborted.
 */
export function createWarpEngine({ models }: { models: Models }): Engine {
  const garments = new Map<string, PreparedGarment>()
  return {
    manifest: WARP_MANIFEST,
    run: (input, context) => run(input, context, { models, garments }),
    kept: {
      count: () => garments.size,
      forget: (garmentHash) => {
        for (const key of garments.keys()) if (key.startsWith(garmentHash)) garments.delete(key)
      },
    },
  }
}

interface Resources {
  readonly models: Models
  readonly garments: Map<string, PreparedGarment>
}

async function run(input: EngineInput, context: EngineContext, resources: Resources): Promise<EngineResult> {
  const stages = createStages(context, { large: input.options.fullResolution })
  const frame = await stages.run('resize', 0.02, () => limitSide(input.person, sidesOf(input).drawn))
  const seen = await stages.run('person', 0.2, () => personOf(input, frame, resources))
  if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
  const garment = await stages.run('garment', 0.5, () => garmentOf(input, resources))
  const dressed =
    garment.kind === 'trousers' || garment.kind === 'skirt'
      ? await dressLower({ frame, seen, garment }, stages)
      : await dressUpper({ frame, seen, garment }, stages)
  return { ...dressed, detected: detectGarment(garment), timings: stages.timings }
}

function sidesOf({ options }: EngineInput): (typeof SIDES)[keyof typeof SIDES] {
  return SIDES[options.fullResolution ? 'full' : 'screen']
}

async function limitSide(photo: Bitmap, longest: number): Promise<Bitmap> {
  const frame = Math.max(photo.width, photo.height) <= longest ? photo : await resizeBitmap(photo, { longest })
  return frame.channels === 3 ? frame : copyRgb(frame)
}

/** Whom the caller has found already, at the frame's size. */
async function personOf({ person, found }: EngineInput, frame: Bitmap, { models }: Resources): Promise<Person | null> {
  if (!found) return findPerson(frame, models)
  return frame.width === person.width ? found : personAtSize(found, frame)
}

async function garmentOf(input: EngineInput, { models, garments }: Resources): Promise<PreparedGarment> {
  const { garment, garmentHash, category } = input
  const longest = sidesOf(input).garment
  const key = `${garmentHash} ${category} ${longest}`
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
  if (input.options.fullResolution) forgetLarge(garments)
  const large = Math.max(garment.width, garment.height) > longest
  const prepared = prepareGarment(large ? await resizeBitmap(garment, { longest }) : garment, { category, longest })
  garments.set(key, prepared)
  forgetOldest(garments)
  return prepared
}

// Before the next large one is made: two of them at once are too much.
function forgetLarge(garments: Map<string, PreparedGarment>): void {
  for (const [key, { image }] of [...garments]) if (image.data.byteLength > LARGE_BYTES) garments.delete(key)
}

function forgetOldest(garments: Map<string, PreparedGarment>): void {
  let bytes = 0
  for (const [key, { image }] of [...garments].reverse()) {
    bytes += image.data.byteLength
    if (garments.size > 1 && bytes > KEPT_BYTES) garments.delete(key)
  }
}
