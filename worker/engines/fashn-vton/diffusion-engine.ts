import { DrapeError } from '../../../api/shared/errors.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Person } from '../../person/person.ts'
import type { Bytes } from '../../raster/bytes.ts'
import type { Plane, Size } from '../../raster/plane.ts'
import { createStages, type Stages } from '../../stages.ts'
import type { Engine, EngineContext, EngineInput, EngineManifest, EngineResult, EvictableCache } from '../engine.ts'
import type { EngineResources } from '../registry.ts'
import type { ProductCategory } from './category.ts'
import { combineCaches, createLruCache, type LruCache } from './lru-cache.ts'
import type { Parser } from './parser/parse.ts'
import { createProductPhoto, keyOfProduct, type ProductPhoto } from './product-photo.ts'

const MAX_CACHED_CATEGORIES = 256

/** The parts in which diffusion engines differ. */
export interface Diffusion extends Pick<EngineResources, 'models'> {
  readonly manifest: EngineManifest
  /** Required for product photos that show a person. */
  readonly parser: Parser | null
  /** Reduces a product photo to the resolution that the models need. */
  readonly reduce: (photo: Bytes) => Bytes
  readonly draw: (drawing: Drawing) => Promise<Drawn>
  readonly selfTest: NonNullable<Engine['selfTest']>
  /** Cached garments. */
  readonly cache: EvictableCache
  readonly release: () => Promise<void>
}

/** One run of a diffusion engine. */
export interface Drawing {
  readonly input: EngineInput
  readonly signal: AbortSignal
  readonly stages: Stages
  readonly product: ProductPhoto
  /** The person in the photo. @throws NO_PERSON_DETECTED */
  findPerson(): Promise<Person>
  /** What the product photo shows, cached by product. `done` is the progress after the call. */
  findCategory(done: number): Promise<ProductCategory>
  /** Reports progress within a range of the whole work when the share `share` of the steps is done. */
  reportSteps(range: { readonly from: number; readonly to: number }, share: number): void
}

export interface Drawn {
  /** RGB, the change of the same size. */
  readonly image: Bytes
  readonly change: Plane
  readonly category: ProductCategory
  /** Warning codes in addition to those of the category. */
  readonly warnings?: readonly string[]
}

/** Wraps a diffusion model as an engine with product categories, stages, warnings and caches. A run throws what `draw` throws. */
export function createDiffusionEngine(diffusion: Diffusion): Engine {
  const categories = createLruCache<ProductCategory>(MAX_CACHED_CATEGORIES, () => 1)
  const { name, version, kind, license, accepts, aiGenerated } = diffusion.manifest
  return {
    manifest: { name, version, kind, license, accepts, aiGenerated },
    run: (input, context) => run(input, context, { ...diffusion, categories }),
    selfTest: diffusion.selfTest,
    cache: combineCaches(diffusion.cache, categories),
    release: diffusion.release,
  }
}

async function run(
  input: EngineInput,
  context: EngineContext,
  diffusion: Diffusion & { readonly categories: LruCache<ProductCategory> },
): Promise<EngineResult> {
  const stages = createStages(context)
  const product = createProductPhoto(input, diffusion)
  const {
    image,
    change,
    category,
    warnings = [],
  } = await diffusion.draw({
    input,
    signal: context.signal,
    stages,
    product,
    findPerson: async () => {
      const seen = input.found ?? (await findPerson(input.person, diffusion.models))
      if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
      return seen
    },
    findCategory: (done) =>
      stages.run('category', done, () => diffusion.categories.get(keyOfProduct(input), product.category)),
    reportSteps: ({ from, to }, share) => context.onProgress(from * (1 - share) + to * share),
  })
  return {
    image: { ...image, channels: 3 },
    change,
    detected: category.detected,
    warnings: [...warnings, ...category.warnings, ...enlargementWarning(input, image)],
    timings: stages.timings,
  }
}

/** The drawing has the size of the canvas and is enlarged if the caller asks for the full resolution of the photo. */
function enlargementWarning({ person, options }: EngineInput, drawn: Size): readonly string[] {
  return options.fullResolution && person.width > drawn.width ? ['RESULT_ENLARGED'] : []
}
