import { resizeBitmap } from '../../../api/shared/image.ts'
import { createGarmentThread, type GarmentThread } from '../../garment/prepare-beside.ts'
import { type PreparedGarment, prepareGarment } from '../../garment/prepare-garment.ts'
import type { Bitmap } from '../../raster/plane.ts'
import type { EngineProduct, KeptProducts } from '../engine.ts'

/** Longest side in px of product photos: enough for a screen, or for everything. */
const SIDES = { screen: 1400, full: 2400 } as const
/** Bytes of prepared garments that are kept: about seven of those for the screen; one in full is kept alone. */
const KEPT_BYTES = 64e6

/** Prepares garments, on a background thread where memory allows it, and caches the last few. */
export interface GarmentCache extends KeptProducts {
  /** Starts to prepare the garment of the next run; its result is dropped when another one is anticipated. */
  anticipate(product: EngineProduct): void
  get(product: EngineProduct): PreparedGarment | undefined
  /** Starts to prepare a garment on the background thread, unless that has been anticipated. Null for a large one, which is prepared alone. */
  start(product: EngineProduct): Promise<PreparedGarment> | null
  /** Prepares a garment on this thread. */
  prepare(product: EngineProduct): Promise<PreparedGarment>
  set(product: EngineProduct, garment: PreparedGarment): void
  /** Evicts all but this garment: a large one needs the room of all. */
  evictOthers(product: EngineProduct): void
  stop(): Promise<void>
}

interface Entries {
  readonly garments: Map<string, PreparedGarment>
  /** The garment that was anticipated for the next run. */
  readonly started: Map<string, Promise<PreparedGarment>>
  readonly thread: GarmentThread
}

export function createGarmentCache(): GarmentCache {
  const entries: Entries = { garments: new Map(), started: new Map(), thread: createGarmentThread() }
  const { garments, started, thread } = entries
  return {
    anticipate: (product) => anticipate(product, entries),
    get: (product) => findGarment(product, entries),
    start: (product) => (product.options.fullResolution ? null : startOnce(product, entries)),
    prepare: prepareHere,
    set: (product, garment) => {
      garments.set(keyOf(product), garment)
      evictOldest(garments)
    },
    evictOthers: (product) => {
      for (const key of [...garments.keys()]) if (key !== keyOf(product)) garments.delete(key)
    },
    count: () => garments.size + started.size,
    forget: (garmentHash) => {
      for (const kept of [garments, started])
        for (const key of kept.keys()) if (key.startsWith(garmentHash)) kept.delete(key)
    },
    stop: () => thread.stop(),
  }
}

function keyOf(product: EngineProduct): string {
  return `${product.garmentHash} ${product.category} ${longestSideOf(product)}`
}

function longestSideOf({ options }: EngineProduct): number {
  return SIDES[options.fullResolution ? 'full' : 'screen']
}

function anticipate(product: EngineProduct, { garments, started, thread }: Entries): void {
  started.clear()
  const key = keyOf(product)
  // Two large images prepared at once are too much memory.
  if (garments.has(key) || product.options.fullResolution) return
  const garment = prepareBeside(product, thread)
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
  const garment = started.get(keyOf(product)) ?? prepareBeside(product, thread)
  started.clear()
  // Its failure is thrown where it is awaited; the analysis of the person may fail first.
  garment.catch(() => {})
  return garment
}

async function prepareBeside(product: EngineProduct, thread: GarmentThread): Promise<PreparedGarment> {
  const longest = longestSideOf(product)
  return thread.prepare(await limitSide(product.garment, longest), { category: product.category, longest })
}

async function prepareHere(product: EngineProduct): Promise<PreparedGarment> {
  const longest = longestSideOf(product)
  return prepareGarment(await limitSide(product.garment, longest), { category: product.category, longest })
}

async function limitSide(garment: Bitmap, longest: number): Promise<Bitmap> {
  return Math.max(garment.width, garment.height) > longest ? resizeBitmap(garment, { longest }) : garment
}

function evictOldest(garments: Map<string, PreparedGarment>): void {
  let bytes = 0
  for (const [key, { image }] of [...garments].reverse()) {
    bytes += image.data.byteLength
    if (garments.size > 1 && bytes > KEPT_BYTES) garments.delete(key)
  }
}
