import { CATEGORIES, type Category, GARMENT_TYPES } from './generation.ts'

/** `preview` results are geometric renderings, `photo` results come from a generative model, `test` results are the photo itself. */
export const ENGINE_KINDS = ['preview', 'photo', 'test'] as const
export type EngineKind = (typeof ENGINE_KINDS)[number]

/** What is known of an engine before its Engine resource or a worker has described it. */
export interface EngineFacts {
  readonly kind: EngineKind | null
  /** `spdx` is an SPDX expression. */
  readonly license: { readonly spdx: string; readonly commercial: boolean } | null
  /** Categories of garments that the engine puts on. */
  readonly categories: readonly Category[]
  /** Classifications of product images that the engine can work from. */
  readonly garmentTypes: readonly (typeof GARMENT_TYPES)[number][]
  /** Price of a try-on. */
  readonly credits: number
}

interface BuiltIn extends EngineFacts {
  readonly kind: EngineKind
  readonly license: NonNullable<EngineFacts['license']>
  /** `worker`: part of the program of the worker. `export`: `scripts/export-engine` writes its model files. */
  readonly source: 'worker' | 'export'
}

const APACHE = { spdx: 'Apache-2.0', commercial: true } as const

/** Engines that come with Drape, in the order of lists. */
export const ENGINE_CATALOGUE = {
  warp: {
    source: 'worker',
    kind: 'preview',
    license: APACHE,
    categories: CATEGORIES,
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    credits: 1,
  },
  'fashn-vton': {
    source: 'export',
    kind: 'photo',
    license: APACHE,
    categories: ['tops', 'bottoms', 'one-pieces'],
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    credits: 1,
  },
  catvton: {
    source: 'export',
    kind: 'photo',
    license: { spdx: 'CC-BY-NC-SA-4.0', commercial: false },
    categories: ['tops', 'bottoms', 'one-pieces', 'outerwear'],
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    credits: 1,
  },
  mock: {
    source: 'worker',
    kind: 'test',
    license: APACHE,
    categories: CATEGORIES,
    garmentTypes: GARMENT_TYPES,
    credits: 0,
  },
} as const satisfies Readonly<Record<string, BuiltIn>>

type Catalogue = typeof ENGINE_CATALOGUE
type NamesFrom<S extends BuiltIn['source']> = {
  [Name in keyof Catalogue]: Catalogue[Name]['source'] extends S ? Name : never
}[keyof Catalogue]
/** Engines that every worker has. */
export type WorkerEngine = NamesFrom<'worker'>
/** Engines of which a worker needs the model files. */
export type ExportedEngine = NamesFrom<'export'>

/** The engine of an installation that configures none. */
export const DEFAULT_ENGINE = 'warp' satisfies keyof Catalogue

export const BUILT_IN_ENGINES: readonly string[] = Object.keys(ENGINE_CATALOGUE)

/** The engines of an API and of a worker that configure none. */
export const WORKER_ENGINES: readonly string[] = Object.entries(ENGINE_CATALOGUE).flatMap(([name, { source }]) =>
  source === 'worker' ? [name] : [],
)

/** An engine that does not come with Drape. */
const UNKNOWN: EngineFacts = {
  kind: null,
  license: null,
  categories: CATEGORIES,
  garmentTypes: ['flat_lay', 'ghost_mannequin'],
  credits: 1,
}

export function engineFacts(name: string): EngineFacts {
  return Object.hasOwn(ENGINE_CATALOGUE, name) ? ENGINE_CATALOGUE[name as keyof Catalogue] : UNKNOWN
}
