import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { MAX_RESULTS } from '../../../api/shared/generations/generation.ts'
import type { Models } from '../../inference/models.ts'
import { createStages, type Stages } from '../../job/stages.ts'
import { findPerson } from '../../vision/person/find-person.ts'
import type { Person } from '../../vision/person/person.ts'
import { type Bytes, createBytes } from '../../vision/raster/bytes.ts'
import type { Plane, Size } from '../../vision/raster/plane.ts'
import type { Engine, EngineContext, EngineInput } from '../engine.ts'
import type { EngineResources } from '../registry.ts'
import type { ProductCategory } from './category.ts'
import { type Conditions, createConditions } from './conditions.ts'
import { type Batching, denoiseEach, startNoise } from './denoise.ts'
import { createWholeBodyFinder, type WholeBodyFinder } from './dwpose/find-people.ts'
import { type Graphs, openGraphs } from './graphs.ts'
import { combineCaches, createLruCache, type LruCache } from './lru-cache.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { type PoseParts, posePerson, poseProduct } from './posed.ts'
import { createProductPhoto, keyOfProduct } from './product.ts'
import { changeRegion } from './region.ts'
import { proveGraphs } from './self-test.ts'
import { toBitmap } from './tensors.ts'

/** Progress after each stage, as a share of the whole work. */
const PROGRESS = { category: 0.01, pose: 0.03, person: 0.05, garment: 0.08, plan: 0.1, denoise: 0.98 }
const MAX_CACHED_CATEGORIES = 256

/**
 * The FASHN VTON v1.5 engine from a folder that `scripts/export-engine` made: a diffusion transformer draws the person in the garment
 * on its canvas, without a mask. The region of the garment then replaces the photo.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`, RESULT_REJECTED if the model
 * returns NaN, and the signal's reason after an abort.
 * @throws Error as `openGraphs`
 */
export async function openFashnVton(
  folder: string,
  manifest: FashnVtonManifest,
  { models, provider, isAlone, conformance }: EngineResources,
): Promise<Engine> {
  const graphs = await openGraphs(folder, manifest, provider)
  const wholeBody = await createPose(graphs)
  const conditions = createConditions(graphs, manifest)
  const categories = createLruCache<ProductCategory>(MAX_CACHED_CATEGORIES, () => 1)
  // On a processor, a batch saves no time.
  const batching = { isPossible: provider !== 'cpu' && isAlone }
  const resources = { models, manifest, graphs, conditions, categories, wholeBody, batching }
  const runSeeds: NonNullable<Engine['runSeeds']> = async (input, seeds, context) => {
    const stages = createStages(context)
    const { images, change, category, warnings } = await draw(input, seeds, { ...context, stages }, resources)
    return images.map((image) =>
      image instanceof DrapeError
        ? image
        : {
            image: { ...image, channels: 3 },
            change: { ...change, data: change.data.slice() },
            detected: category.detected,
            warnings: [...warnings, ...category.warnings, ...enlargementWarning(input, image)],
            timings: stages.timings,
          },
    )
  }
  const { name, version, kind, license, accepts, aiGenerated } = manifest
  return {
    manifest: { name, version, kind, license, accepts, aiGenerated, outfits: true, maxCount: MAX_RESULTS },
    run: async (input, context) => {
      const [result] = await runSeeds(input, [input.options.seed], context)
      if (result instanceof DrapeError) throw result
      return result
    },
    runSeeds,
    selfTest: async () => {
      // An empty image shows no person.
      await wholeBody?.find(createBytes(manifest.size, 3))
      return proveGraphs(graphs, manifest, { provider, conformance })
    },
    cache: combineCaches(conditions.cache, categories),
    release: () => graphs.release(),
  }
}

/** @throws Error that names the graph with a wrong interface; closes all graphs in that case */
async function createPose(graphs: Graphs): Promise<WholeBodyFinder | null> {
  try {
    return graphs.pose && createWholeBodyFinder(graphs.pose)
  } catch (error) {
    await graphs.release()
    throw error
  }
}

interface Resources extends PoseParts {
  readonly models: Models
  readonly manifest: FashnVtonManifest
  readonly graphs: Graphs
  readonly conditions: Conditions
  /** What product photos show, by product. */
  readonly categories: LruCache<ProductCategory>
  readonly batching: Batching
}

interface Drawn {
  /** RGB, of each seed; or its error. The change has the same size. */
  readonly images: readonly (Bytes | DrapeError)[]
  readonly change: Plane
  readonly category: ProductCategory
  /** Warning codes in addition to those of the category. */
  readonly warnings: readonly string[]
}

async function draw(
  input: EngineInput,
  seeds: readonly number[],
  { signal, onProgress, stages }: EngineContext & { readonly stages: Stages },
  resources: Resources,
): Promise<Drawn> {
  const { models, manifest, graphs, conditions, categories, batching } = resources
  const { mode } = input.options
  const product = createProductPhoto(input, { models, canvas: manifest.size })
  const seen = await findPersonOf(input, models)
  const shown = await stages.run('category', PROGRESS.category, () =>
    categories.get(keyOfProduct(input), product.category),
  )
  const { category } = shown
  const posed = await stages.run('pose', PROGRESS.pose, () => posePerson(input.person, seen, resources))
  const person = await stages.run('person', PROGRESS.person, () => conditions.person(posed))
  const garment = await stages.run('garment', PROGRESS.garment, () =>
    conditions.garment(keyOfProduct({ ...input, category }), () => poseProduct(product, category, resources)),
  )
  const [plan, nothing] = await stages.run('plan', PROGRESS.plan, () =>
    Promise.all([conditions.plan(mode, category), conditions.nothing()]),
  )
  const noises = seeds.map((seed) => startNoise(manifest.size, seed))
  let reached = 0
  const samples = await stages.run('denoise', PROGRESS.denoise, () =>
    denoiseEach(graphs.denoise, noises, {
      input: { person, garment, nothing, plan, guidance: manifest.sampling.guidance },
      signal,
      batching,
      onProgress: (share) => {
        // Without memory for all, each is drawn from its start.
        reached = Math.max(reached, share)
        onProgress(progressOf(reached))
      },
    }),
  )
  const images = samples.map((sample) => (sample instanceof DrapeError ? sample : toBitmap(sample, posed.place)))
  const change = await stages.run('change', 1, () => changeRegion(seen, category, posed.place))
  return { images, change, category: shown, warnings: resources.wholeBody ? [] : ['POSE_WITHOUT_HANDS'] }
}

/** Progress when the share `share` of the steps is done; exactly that of the stage at the end. */
function progressOf(share: number): number {
  return PROGRESS.plan * (1 - share) + PROGRESS.denoise * share
}

/** @throws NO_PERSON_DETECTED */
async function findPersonOf(input: EngineInput, models: Models): Promise<Person> {
  const seen = input.found ?? (await findPerson(input.person, models))
  if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
  return seen
}

/** The drawing has the size of the canvas and is enlarged if the caller asks for the full resolution of the photo. */
function enlargementWarning({ person, options }: EngineInput, drawn: Size): readonly string[] {
  return options.fullResolution && person.width > drawn.width ? ['RESULT_ENLARGED'] : []
}
