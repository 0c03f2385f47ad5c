import { DrapeError } from '../../../api/shared/errors.ts'
import { resizeBitmap } from '../../../api/shared/image.ts'
import { ofImage } from '../../../api/shared/image-field.ts'
import { lookAtPerson } from '../../body/body-model.ts'
import { copyRgb } from '../../composite/blend.ts'
import { detectGarment, isWorn } from '../../garment/classify.ts'
import { createGarmentThread, type GarmentThread } from '../../garment/prepare-beside.ts'
import { type PreparedGarment, prepareGarment } from '../../garment/prepare-garment.ts'
import type { Models } from '../../inference/models.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Person } from '../../person/person.ts'
import { personAtSize } from '../../person/within.ts'
import type { Bitmap } from '../../raster/plane.ts'
import {
  type Engine,
  type EngineContext,
  type EngineInput,
  type EngineProduct,
  type EngineResult,
  manifestOf,
} from '../engine.ts'
import { createStages } from '../stages.ts'
import { dressLower } from './dress-lower.ts'
import { dressUpper } from './dress-upper.ts'

export const WARP_MANIFEST = manifestOf('warp', {
  version: '1.4.0',
  needsPerson: true,
  aiGenerated: false,
  ignores: ['seed', 'mode'],
})

/** Longest side in px of the pictures that garments are drawn on, and of product photos: enough for a screen, or for everything. */
const SIDES = { screen: { drawn: 1280, garment: 1400 }, full: { drawn: 3200, garment: 2400 } } as const
/** Bytes of prepared garments that are kept: about seven of those for the screen; one in full is kept alone. */
const KEPT_BYTES = 64e6

/**
 * The engine that lays the product's own pixels on the person, without a generative model. What depends on the garment alone
 * is kept for the last few garments.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION when the product photo shows a worn garment,
 * RESULT_REJECTED when garment or pose cannot be shown this way, and the signal's reason when it is aborted.
 */
export function createWarpEngine({ models }: { models: Models }): Engine {
  const garments = new Map<string, PreparedGarment>()
  const begun = new Map<string, Promise<PreparedGarment>>()
  const thread = createGarmentThread()
  const resources = { models, garments, begun, thread }
  return {
    manifest: WARP_MANIFEST,
    run: (input, context) => run(input, context, resources),
    anticipate: (product) => anticipate(product, resources),
    kept: {
      count: () => garments.size + begun.size,
      forget: (garmentHash) => {
        for (const kept of [garments, begun])
          for (const key of kept.keys()) if (key.startsWith(garmentHash)) kept.delete(key)
      },
    },
    release: () => thread.stop(),
  }
}

interface Resources {
  readonly models: Models
  readonly garments: Map<string, PreparedGarment>
  /** The one that was anticipated for the next run. */
  readonly begun: Map<string, Promise<PreparedGarment>>
  readonly thread: GarmentThread
}

function anticipate(product: EngineProduct, resources: Resources): void {
  const { garments, begun } = resources
  begun.clear()
  const key = keyOf(product)
  // Two large pictures worked on at once are too much memory.
  if (garments.has(key) || product.options.fullResolution) return
  const garment = prepareBeside(product, resources)
  garment.catch(() => {})
  begun.set(key, garment)
}

async function run(input: EngineInput, context: EngineContext, resources: Resources): Promise<EngineResult> {
  const stages = createStages(context, { large: input.options.fullResolution })
  if (input.options.fullResolution) makeRoom(keyOf(input), resources)
  const frame = await stages.run('resize', 0.02, () => limitSide(input.person, sidesOf(input).drawn))
  const seen = await stages.run('person', 0.2, () => personOf(input, frame, resources))
  if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
  const kept = keptGarment(input, resources)
  const beside = kept ?? (input.options.fullResolution ? null : besideOf(input, resources))
  if (!kept) await stages.run('wearer', 0.24, () => refuseWorn(input, resources))
  // While the garment is prepared: its name says whether it will need the legs.
  const expected = kept ? needsLegs(kept) : LEGS_EXPECTED[input.category ?? 'other']
  const early = beside && expected !== null ? await lookAtPerson({ frame, seen, long: expected }, stages) : null
  const preparing = stages.run('garment', 0.5, async () => beside ?? prepareHere(input))
  const garment = await ofImage('product', preparing)
  if (!kept) keep(garment, input, resources)
  const long = needsLegs(garment)
  const look = early?.long === long ? early : await lookAtPerson({ frame, seen, long }, stages)
  const dressed =
    garment.kind === 'trousers' || garment.kind === 'skirt'
      ? await dressLower({ frame, look, garment }, stages)
      : await dressUpper({ frame, look, garment }, stages)
  return { ...dressed, detected: detectGarment(garment), timings: stages.timings }
}

/** What usually comes of a category; null where that is unknown. */
const LEGS_EXPECTED = { tops: false, outerwear: false, 'one-pieces': true, bottoms: true, other: null } as const

function needsLegs({ kind }: PreparedGarment): boolean {
  return kind !== 'top'
}

function sidesOf({ options }: EngineProduct): (typeof SIDES)[keyof typeof SIDES] {
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

function keyOf(product: EngineProduct): string {
  return `${product.garmentHash} ${product.category} ${sidesOf(product).garment}`
}

function keptGarment(input: EngineInput, { garments }: Resources): PreparedGarment | undefined {
  const key = keyOf(input)
  const kept = garments.get(key)
  if (!kept) return undefined
  // Moved to the end: the first of the map is the one that was not asked for the longest.
  garments.delete(key)
  garments.set(key, kept)
  return kept
}

function keep(garment: PreparedGarment, input: EngineInput, { garments }: Resources): void {
  garments.set(keyOf(input), garment)
  forgetOldest(garments)
}

async function refuseWorn({ garment }: EngineInput, { models }: Resources): Promise<void> {
  const wearer = await findPerson(garment, models, { small: false })
  if (wearer && isWorn(wearer))
    throw new DrapeError('MISSING_REQUIRED_CLASSIFICATION', 'The product photo shows the garment on a person', {
      details: { key: 'flat_lay' },
    })
}

function besideOf(input: EngineInput, resources: Resources): Promise<PreparedGarment> {
  const { begun } = resources
  const garment = begun.get(keyOf(input)) ?? prepareBeside(input, resources)
  begun.clear()
  // Its failure is thrown where it is awaited; the analysis of the person may fail first.
  garment.catch(() => {})
  return garment
}

async function prepareBeside(product: EngineProduct, { thread }: Resources): Promise<PreparedGarment> {
  const longest = sidesOf(product).garment
  return thread.prepare(await limitGarment(product.garment, longest), { category: product.category, longest })
}

async function prepareHere(input: EngineInput): Promise<PreparedGarment> {
  const longest = sidesOf(input).garment
  return prepareGarment(await limitGarment(input.garment, longest), { category: input.category, longest })
}

async function limitGarment(garment: Bitmap, longest: number): Promise<Bitmap> {
  return Math.max(garment.width, garment.height) > longest ? resizeBitmap(garment, { longest }) : garment
}

// A large picture needs the room of all that is kept beside its own garment.
function makeRoom(key: string, { garments }: Resources): void {
  for (const other of [...garments.keys()]) if (other !== key) garments.delete(other)
}

function forgetOldest(garments: Map<string, PreparedGarment>): void {
  let bytes = 0
  for (const [key, { image }] of [...garments].reverse()) {
    bytes += image.data.byteLength
    if (garments.size > 1 && bytes > KEPT_BYTES) garments.delete(key)
  }
}
