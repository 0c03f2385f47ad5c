import { DrapeError } from '../../../api/shared/errors.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Person } from '../../person/person.ts'
import type { Plane, Size } from '../../raster/plane.ts'
import { createStages, type Stages } from '../../stages.ts'
import type { Engine, EngineContext, EngineInput, EngineManifest, EngineResult, KeptProducts } from '../engine.ts'
import type { EngineResources } from '../registry.ts'
import type { Bytes } from './bytes.ts'
import type { ProductCategory } from './category.ts'
import type { Parser } from './parser/parse.ts'
import { createProductPhoto, keyOfProduct, type ProductPhoto } from './product.ts'
import { keepRecent, keptTogether, type Recent } from './recent.ts'

const KEPT_CATEGORIES = 256

/** What makes one diffusion engine different from another. */
export interface Diffusion extends Pick<EngineResources, 'models'> {
  readonly manifest: EngineManifest
  /** With a parser, products may be worn. */
  readonly parser: Parser | null
  /** Reduces a product photo for the models that read it. */
  readonly reduce: (photo: Bytes) => Bytes
  readonly draw: (drawing: Drawing) => Promise<Drawn>
  readonly selfTest: NonNullable<Engine['selfTest']>
  /** What is cached of products. */
  readonly kept: KeptProducts
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
  /** What the product photo shows, cached by product. `done` is the share of the whole work that is done then. */
  findCategory(done: number): Promise<ProductCategory>
  /** Reports progress between two shares of the whole work when `share` of the steps are done. */
  reportSteps(range: { readonly from: number; readonly to: number }, share: number): void
}

export interface Drawn {
  /** RGB, the change of the same size. */
  readonly image: Bytes
  readonly change: Plane
  readonly category: ProductCategory
  /** Codes beyond those of the category. */
  readonly warnings?: readonly string[]
}

/** The engine around a diffusion model: categories of products, stages, warnings, caches. A run throws what `draw` throws. */
export function createDiffusionEngine(diffusion: Diffusion): Engine {
  const categories = keepRecent<ProductCategory>(KEPT_CATEGORIES, () => 1)
  const { name, version, kind, license, accepts, aiGenerated } = diffusion.manifest
  return {
    manifest: { name, version, kind, license, accepts, aiGenerated },
    run: (input, context) => run(input, context, { ...diffusion, categories }),
    selfTest: diffusion.selfTest,
    kept: keptTogether(diffusion.kept, categories),
    release: diffusion.release,
  }
}

async function run(
  input: EngineInput,
  context: EngineContext,
  diffusion: Diffusion & { readonly categories: Recent<ProductCategory> },
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

/** Full resolution is that of the photo; what is drawn has the canvas's and is enlarged. */
function enlargementWarning({ person, options }: EngineInput, drawn: Size): readonly string[] {
  return options.fullResolution && person.width > drawn.width ? ['RESULT_ENLARGED'] : []
}
