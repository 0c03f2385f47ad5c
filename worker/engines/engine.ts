import {
  ENGINE_CATALOGUE,
  type EngineFacts,
  type EngineKind,
  type WorkerEngine,
} from '../../api/shared/engine-catalogue.ts'
import type { Detected } from '../../api/shared/generation.ts'
import type { Category } from '../garment/garment.ts'
import type { Person } from '../person/person.ts'
import type { Bitmap, Plane, Point } from '../raster/plane.ts'

export interface EngineManifest {
  readonly name: string
  readonly version: string
  readonly kind: EngineKind
  readonly license: NonNullable<EngineFacts['license']>
  readonly accepts: {
    readonly categories: readonly Category[]
    /** Which `classifications.type` of a product image the engine can work from. */
    readonly garmentTypes: readonly string[]
    readonly needsPerson: boolean
  }
  /** True when the pixels come from a trained generative model (decides the provenance mark). */
  readonly aiGenerated: boolean
  /** SHA-256 of the list of the model files that make its pixels, as `sha256sum` prints it; absent for an engine without any. */
  readonly weights?: string
  /** Options that make no difference to its pictures. */
  readonly ignores?: readonly ('seed' | 'mode')[]
}

/** The manifest of an engine of this program: the facts of the catalogue, and what only its code knows. */
export function manifestOf(
  name: WorkerEngine,
  {
    needsPerson,
    ...own
  }: Pick<EngineManifest, 'version' | 'aiGenerated' | 'ignores'> & { readonly needsPerson: boolean },
): EngineManifest {
  const { kind, license, categories, garmentTypes } = ENGINE_CATALOGUE[name]
  return { name, kind, license, accepts: { categories, garmentTypes, needsPerson }, ...own }
}

export interface EngineInput {
  /** The person's photo as the caller sees it (already cropped), RGB. */
  readonly person: Bitmap
  /** The main person in it, when it has been detected already, in px of `person`. */
  readonly found?: Person
  /** The product photo, RGB or RGBA. */
  readonly garment: Bitmap
  /** SHA-256 of the product photo's bytes: the key for whatever depends on the garment alone. */
  readonly garmentHash: string
  /** What the caller says the product photo shows, a `classifications.type`; null or absent where the caller says nothing. */
  readonly garmentType?: string | null
  readonly category: Category | null
  readonly options: {
    readonly seed: number
    readonly mode: 'fast' | 'balanced' | 'quality'
    /** The result is wanted in the photo's own resolution, at the price of time. */
    readonly fullResolution?: boolean
  }
}

export interface EngineContext {
  readonly signal: AbortSignal
  /** Share of the work that is done, 0 to 1. */
  readonly onProgress: (share: number) => void
}

export interface EngineResult {
  /** The new picture, RGB, any size with the aspect of the person's photo. */
  readonly image: Bitmap
  /** How much of each pixel of `image` replaces the person's photo, 0 to 1; the same size as `image`. Exactly 0 means untouched. */
  readonly change: Plane
  /** Where the garment's landmarks lie in `image`, in px, where the engine knows: `neck_l`, `hem_r`, … by the picture's own left and right. */
  readonly landmarks?: Readonly<Record<string, Point>>
  /** What the product photo shows, where the engine can recognise it. */
  readonly detected?: Detected
  /** What a viewer should know, as upper-case codes. */
  readonly warnings: readonly string[]
  /** Milliseconds per stage. */
  readonly timings: Readonly<Record<string, number>>
}

/** What is known of a try-on before the photo is analysed. */
export type EngineProduct = Pick<EngineInput, 'garment' | 'garmentHash' | 'garmentType' | 'category' | 'options'>

/** Turns a person and a garment into a picture of the person wearing it. Throws `DrapeError` when it cannot. */
export interface Engine {
  readonly manifest: EngineManifest
  run(input: EngineInput, context: EngineContext): Promise<EngineResult>
  /**
   * Begins what depends on the product alone, while the caller is busy with the photo, where the engine can do that beside other
   * work. What comes of it, errors too, is for the next run with this product; it is dropped when another one comes.
   */
  anticipate?(product: EngineProduct): void
  /**
   * Tries what the engine is made of before any job, where it has something of its own to try.
   * @throws Error that says what is wrong with it
   */
  selfTest?(): Promise<EngineProof>
  /** What it keeps of products from one run to the next, where it does. */
  readonly kept?: KeptProducts
  /** Gives back what it holds outside of the JavaScript heap. */
  release?(): Promise<void>
}

export interface KeptProducts {
  /** How many entries there are. */
  count(): number
  /** Drops all that was made of the product photo with this SHA-256. */
  forget(garmentHash: string): void
}

/** What a self-test has seen. */
export interface EngineProof {
  /** How many operators ran on each provider. */
  readonly operators: Readonly<Record<string, number>>
  /** Milliseconds of the first steps, in which a provider prepares itself, and of the same ones after that. */
  readonly warmUp: { readonly first: number; readonly again: number }
}
