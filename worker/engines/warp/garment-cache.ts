import { resizeBitmap } from '../../../api/shared/image/image.ts'
import type { RunGarmentModel } from '../../vision/garment/garment-models.ts'
import type { PreparedGarment, WornFront } from '../../vision/garment/prepare-garment.ts'
import { createGarmentThread, type GarmentThread } from '../../vision/garment/prepare-in-thread.ts'
import { LONGEST, prepareProduct } from '../../vision/garment/prepare-product.ts'
import type { Bitmap } from '../../vision/raster/plane.ts'
import type { EngineProduct, EvictableCache } from '../engine.ts'

/** Longest side of product photos in px: for screen resolution, and for full resolution. */
const SIDES = { screen: LONGEST, full: 2400 } as const
/** Bytes of cached garments: about 7 in screen resolution; a full-resolution garment is cached alone. */
const CACHE_BYTES = 64e6

/** Prepares garments, on a background thread if memory allows, and caches the last few. */
export interface GarmentCache extends EvictableCache {
  /** Prefetches the garment of the next run. A later prefetch discards the result. */
  prefetch(product: EngineProduct): void
  get(product: EngineProduct): PreparedGarment | undefined
  /** Prepares a garment on the background thread, unless it is already prefetched. Null for a garment that is prepared alone. */
  start(product: EngineProduct): Promise<PreparedGarment> | null
  /** Prepares a garment on this thread. `worn` is set if the photo is its cutout off a person. */
  prepare(product: EngineProduct, worn?: WornFront): Promise<PreparedGarment>
  set(product: EngineProduct, garment: PreparedGarment): void
  /** Evicts all other garments: a large garment needs the whole cache. */
  evictOthers(product: EngineProduct): void
  stop(): Promise<void>
}

interface Entries {
  readonly garments: Map<string, PreparedGarment>
  /** The prefetched garment of the next run. */
  readonly started: Map<string, Promise<PreparedGarment>>
  readonly thread: GarmentThread
}

/** `runModel` runs the models for product photos. */
export function createGarmentCache(runModel: RunGarmentModel): GarmentCache {
  const entries: Entries = { garments: new Map(), started: new Map(), thread: createGarmentThread(runModel) }
  const { garments, started, thread } = entries
  return {
    prefetch: (product) => prefetch(product, entries),
    get: (product) => findGarment(product, entries),
    start: (product) => (isPreparedAlone(product) ? null : startOnce(product, entries)),
    prepare: (product, worn) => prepareOnThisThread(product, { worn, runModel }),
    set: (product, garment) => {
      garments.set(keyOf(product), garment)
      evictOldest(garments)
    },
    evictOthers: (product) => {
      for (const key of [...garments.keys()]) if (key !== keyOf(product)) garments.delete(key)
    },
    count: () => garments.size + started.size,
    evict: (garmentHash) => {
      for (const kept of [garments, started])
        for (const key of kept.keys()) if (key.startsWith(garmentHash)) kept.delete(key)
    },
    stop: () => thread.stop(),
  }
}

function keyOf(product: EngineProduct): string {
  // An image that is said to show a person is another product than the same image without one.
  return `${product.garmentHash} ${product.garmentType ?? ''} ${product.category} ${longestSideOf(product)}`
}

/** Longest side in px at which the product photo is processed. */
export function longestSideOf({ options }: EngineProduct): number {
  return SIDES[options.fullResolution ? 'full' : 'screen']
}

// Preparing two large images concurrently needs too much memory, and a garment on a person is first cut off the person.
function isPreparedAlone({ options, garmentType }: EngineProduct): boolean {
  return options.fullResolution === true || garmentType === 'on_model'
}

function prefetch(product: EngineProduct, { garments, started, thread }: Entries): void {
  started.clear()
  const key = keyOf(product)
  if (garments.has(key) || isPreparedAlone(product)) return
  const garment = prepareInBackground(product, thread)
  garment.catch(() => {})
  started.set(key, garment)
}

function findGarment(product: EngineProduct, { garments }: Entries): PreparedGarment | undefined {
  const key = keyOf(product)
  const garment = garments.get(key)
  if (!garment) return undefined
  // Moved to the end: the first entry of the map is the least recently used one.
  garments.delete(key)
  garments.set(key, garment)
  return garment
}

function startOnce(product: EngineProduct, { started, thread }: Entries): Promise<PreparedGarment> {
  const garment = started.get(keyOf(product)) ?? prepareInBackground(product, thread)
  started.clear()
  // Awaited by run(); avoid an unhandled rejection if the analysis of the person fails first.
  garment.catch(() => {})
  return garment
}

async function prepareInBackground(product: EngineProduct, thread: GarmentThread): Promise<PreparedGarment> {
  const longest = longestSideOf(product)
  return thread.prepare(await limitSide(product.garment, longest), { category: product.category, longest })
}

async function prepareOnThisThread(
  product: EngineProduct,
  { worn, runModel }: { worn?: WornFront; runModel: RunGarmentModel },
): Promise<PreparedGarment> {
  const longest = longestSideOf(product)
  const garment = await limitSide(product.garment, longest)
  return prepareProduct(garment, { category: product.category, longest, worn }, runModel)
}

async function limitSide(garment: Bitmap, longest: number): Promise<Bitmap> {
  return Math.max(garment.width, garment.height) > longest ? resizeBitmap(garment, { longest }) : garment
}

function evictOldest(garments: Map<string, PreparedGarment>): void {
  let bytes = 0
  for (const [key, { image }] of [...garments].reverse()) {
    bytes += image.data.byteLength
    if (garments.size > 1 && bytes > CACHE_BYTES) garments.delete(key)
  }
}
