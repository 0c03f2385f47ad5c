import { CATEGORIES, type Category, GARMENT_TYPES, MAX_RESULTS } from '../generations/generation.ts'

/** `preview`: geometric rendering. `photo`: result of a generative model. `test`: the photo itself. */
export const ENGINE_KINDS = ['preview', 'photo', 'test'] as const
export type EngineKind = (typeof ENGINE_KINDS)[number]

/** Properties of an engine that apply until its Engine resource or a worker describes it. */
export interface EngineFacts {
  readonly kind: EngineKind | null
  /** `spdx` is an SPDX expression. */
  readonly license: { readonly spdx: string; readonly commercial: boolean } | null
  /** Garment categories that the engine supports. */
  readonly categories: readonly Category[]
  /** Classifications of product images that the engine accepts. */
  readonly garmentTypes: readonly (typeof GARMENT_TYPES)[number][]
  /** Whether the engine can draw an outfit, layer over layer: a result changes nothing outside the region of its garment. */
  readonly outfits: boolean
  /** Results that a try-on may ask for; 1 for an engine that draws the same image from every seed. */
  readonly maxCount: number
  /** Price of a result. */
  readonly credits: number
  /** Seconds of a worker's slot per try-on, until completed ones show it. */
  readonly secondsPerJob: number
}

interface BuiltIn extends EngineFacts {
  readonly kind: EngineKind
  readonly license: NonNullable<EngineFacts['license']>
  /** `worker`: built into the worker. `export`: needs the model files that `scripts/export-engine` writes. */
  readonly source: 'worker' | 'export'
}

const APACHE = { spdx: 'Apache-2.0', commercial: true } as const

/** Engines included in Drape, in display order. */
export const ENGINE_CATALOGUE = {
  warp: {
    source: 'worker',
    kind: 'preview',
    license: APACHE,
    categories: CATEGORIES,
    garmentTypes: ['flat_lay', 'ghost_mannequin', 'on_model'],
    outfits: true,
    maxCount: 1,
    credits: 1,
    secondsPerJob: 3,
  },
  'fashn-vton': {
    source: 'export',
    kind: 'photo',
    license: APACHE,
    categories: ['tops', 'bottoms', 'one-pieces'],
    garmentTypes: ['flat_lay', 'ghost_mannequin', 'on_model'],
    outfits: true,
    maxCount: MAX_RESULTS,
    credits: 1,
    secondsPerJob: 10,
  },
  mock: {
    source: 'worker',
    kind: 'test',
    license: APACHE,
    categories: CATEGORIES,
    garmentTypes: GARMENT_TYPES,
    outfits: true,
    // The same image each time, but integrations can use it.
    maxCount: MAX_RESULTS,
    credits: 0,
    secondsPerJob: 3,
  },
} as const satisfies Readonly<Record<string, BuiltIn>>

type Catalogue = typeof ENGINE_CATALOGUE
type NamesFrom<S extends BuiltIn['source']> = {
  [Name in keyof Catalogue]: Catalogue[Name]['source'] extends S ? Name : never
}[keyof Catalogue]
/** Engines built into every worker. */
export type WorkerEngine = NamesFrom<'worker'>
/** Engines for which a worker needs model files. */
export type ExportedEngine = NamesFrom<'export'>

/** Default engine of an installation. */
export const DEFAULT_ENGINE = 'warp' satisfies keyof Catalogue

export const BUILT_IN_ENGINES: readonly string[] = Object.keys(ENGINE_CATALOGUE)

/** Default engines of an API and of a worker. */
export const WORKER_ENGINES: readonly string[] = Object.entries(ENGINE_CATALOGUE).flatMap(([name, { source }]) =>
  source === 'worker' ? [name] : [],
)

/** Properties of an engine that is not included in Drape. */
const UNKNOWN: EngineFacts = {
  kind: null,
  license: null,
  categories: CATEGORIES,
  garmentTypes: ['flat_lay', 'ghost_mannequin'],
  outfits: false,
  maxCount: 1,
  credits: 1,
  secondsPerJob: 10,
}

export function engineFacts(name: string): EngineFacts {
  return Object.hasOwn(ENGINE_CATALOGUE, name) ? ENGINE_CATALOGUE[name as keyof Catalogue] : UNKNOWN
}
