import type { DrapeError } from '../../api/shared/contract/errors.ts'
import {
  ENGINE_CATALOGUE,
  type EngineFacts,
  type EngineKind,
  type WorkerEngine,
} from '../../api/shared/engines/engine-catalogue.ts'
import type { Detected } from '../../api/shared/generations/generation.ts'
import type { Category } from '../vision/garment/garment.ts'
import type { PersonLabels } from '../vision/person/parse.ts'
import type { Person } from '../vision/person/person.ts'
import type { Bitmap, Plane, Point } from '../vision/raster/plane.ts'

export interface EngineManifest {
  readonly name: string
  readonly version: string
  readonly kind: EngineKind
  readonly license: NonNullable<EngineFacts['license']>
  readonly accepts: {
    readonly categories: readonly Category[]
    /** `classifications.type` values of product images that the engine supports. */
    readonly garmentTypes: readonly string[]
    readonly needsPerson: boolean
  }
  /** Whether the engine can draw an outfit, as in `EngineFacts`. Absent: no. */
  readonly outfits?: boolean
  /** As in `EngineFacts`. Absent: 1. */
  readonly maxCount?: number
  /** True if a trained generative model draws the pixels (decides the provenance mark). */
  readonly aiGenerated: boolean
  /** SHA-256 of the list of model files in `sha256sum` format; absent for an engine without model files. */
  readonly weights?: string
  /** Options that do not affect the result. */
  readonly ignores?: readonly ('seed' | 'mode')[]
}

/** Builds the manifest of a built-in engine from the catalogue and the engine's own fields. */
export function manifestOf(
  name: WorkerEngine,
  {
    needsPerson,
    ...own
  }: Pick<EngineManifest, 'version' | 'aiGenerated' | 'ignores'> & { readonly needsPerson: boolean },
): EngineManifest {
  const { kind, license, categories, garmentTypes, outfits, maxCount } = ENGINE_CATALOGUE[name]
  return { name, kind, license, accepts: { categories, garmentTypes, needsPerson }, outfits, maxCount, ...own }
}

export interface EngineInput {
  /** The person's photo as the caller sees it (already cropped), RGB. */
  readonly person: Bitmap
  /** The main person in px of `person`, if already detected. */
  readonly found?: Person
  /** The product photo, RGB or RGBA. */
  readonly garment: Bitmap
  /** SHA-256 of the product photo's bytes: cache key of all data that depends only on the garment. */
  readonly garmentHash: string
  /** The caller's `classifications.type` of the product photo; null or absent if the caller sets none. */
  readonly garmentType?: string | null
  readonly category: Category | null
  readonly options: {
    readonly seed: number
    readonly mode: 'fast' | 'balanced' | 'quality'
    /** Return the result in the resolution of the photo, which takes longer. */
    readonly fullResolution?: boolean
  }
}

export interface EngineContext {
  readonly signal: AbortSignal
  /** Share of the work that is done, 0 to 1. */
  readonly onProgress: (share: number) => void
}

export interface EngineResult {
  /** The result image, RGB, any size with the aspect of the person's photo. */
  readonly image: Bitmap
  /** Blend factor of each pixel of `image` over the person's photo, 0 to 1; same size as `image`. Exactly 0 keeps the photo's bytes. */
  readonly change: Plane
  /** Garment landmarks in px of `image`, if known: `neck_l`, `hem_r`, … (left and right of the image). */
  readonly landmarks?: Readonly<Record<string, Point>>
  /** Of the person's photo at the size of `image`, if the engine made them: the quality of a preview needs them. */
  readonly labels?: PersonLabels
  /** What the product photo shows, if the engine detects it. */
  readonly detected?: Detected
  /** Whether the picture shows no top and no jacket under the garment, which then need not be drawn first. */
  readonly hidesTops?: boolean
  /** Warnings for the viewer, as upper-case codes. */
  readonly warnings: readonly string[]
  /** Milliseconds per stage. */
  readonly timings: Readonly<Record<string, number>>
}

/** The inputs of a try-on that are known before the photo is analysed. */
export type EngineProduct = Pick<EngineInput, 'garment' | 'garmentHash' | 'garmentType' | 'category' | 'options'>

/** Draws a person wearing a garment. Throws `DrapeError` on failure. */
export interface Engine {
  readonly manifest: EngineManifest
  run(input: EngineInput, context: EngineContext): Promise<EngineResult>
  /**
   * Draws a result for each of these seeds, not that of the options, and does once what does not depend on the seed. Returns the error in
   * place of a result that only its seed has spoiled. Absent: `run` is called for each.
   */
  runSeeds?(
    input: EngineInput,
    seeds: readonly number[],
    context: EngineContext,
  ): Promise<readonly (EngineResult | DrapeError)[]>
  /**
   * Prefetches the data that depends only on the product, concurrently with the analysis of the photo, if the engine supports
   * it. The next run with this product uses the result, including errors; another product discards it.
   */
  prefetch?(product: EngineProduct): void
  /**
   * Tests the engine before its first job, if it has models to test.
   * @throws Error that describes the problem
   */
  selfTest?(): Promise<EngineProof>
  /** Cached garments, if the engine caches any. */
  readonly cache?: EvictableCache
  /** Releases resources outside the JavaScript heap. */
  release?(): Promise<void>
}

export interface EvictableCache {
  /** Number of entries. */
  count(): number
  /** Evicts all entries of the product photo with this SHA-256. */
  evict(garmentHash: string): void
}

/** The findings of a self-test. */
export interface EngineProof {
  /** Number of operators that ran on each provider. */
  readonly operators: Readonly<Record<string, number>>
  /** Milliseconds of the first run, which includes the provider's warm-up, and of the second run. */
  readonly warmUp: { readonly first: number; readonly again: number }
}
