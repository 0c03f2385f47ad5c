import { DrapeError } from '../../../api/shared/errors.ts'
import type { Models } from '../../inference/models.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Size } from '../../raster/plane.ts'
import { createStages } from '../../stages.ts'
import type { ProductCategory } from '../diffusion/category.ts'
import { createProductPhoto, keyOfProduct } from '../diffusion/product.ts'
import { keepRecent, keptTogether, type Recent } from '../diffusion/recent.ts'
import { toPicture } from '../diffusion/tensors.ts'
import type { Engine, EngineContext, EngineInput, EngineResult } from '../engine.ts'
import type { EngineResources } from '../registry.ts'
import { limitToCanvas } from './canvas.ts'
import { type Conditions, createConditions } from './conditions.ts'
import { denoise, startNoise } from './denoise.ts'
import { type Graphs, openGraphs } from './graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { createOthers, type Others, tryOthers } from './others.ts'
import { posePerson, poseProduct } from './posed.ts'
import { changeRegion } from './region.ts'
import { proveGraphs } from './self-test.ts'

/** Shares of the work that are done when a stage is. */
const DONE = { category: 0.01, pose: 0.03, person: 0.05, garment: 0.08, plan: 0.1, denoise: 0.98 }
const KEPT_CATEGORIES = 256

/**
 * The engine FASHN VTON v1.5 of a folder that `scripts/export-engine` made: a diffusion transformer draws the person in the garment
 * on its canvas, without a mask unless the folder has a parser, and the part where the garment lies replaces the photo.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`, RESULT_REJECTED when the model
 * returns no numbers, and the signal's reason when it is aborted.
 * @throws Error as `openGraphs`
 */
export async function openFashnVton(
  folder: string,
  manifest: FashnVtonManifest,
  { models, provider, conformance }: EngineResources,
): Promise<Engine> {
  const graphs = await openGraphs(folder, manifest, { provider })
  const resources = {
    models,
    manifest,
    ...(await createOthers(graphs)),
    graphs,
    conditions: createConditions(graphs, manifest),
    categories: keepRecent<ProductCategory>(KEPT_CATEGORIES, () => 1),
  }
  const { name, version, kind, license, accepts, aiGenerated } = manifest
  return {
    manifest: { name, version, kind, license, accepts, aiGenerated },
    run: (input, context) => run(input, context, resources),
    selfTest: async () => {
      await tryOthers(resources, manifest.size)
      return proveGraphs(graphs, manifest, { provider, conformance })
    },
    kept: keptTogether(resources.conditions.kept, resources.categories),
    release: () => graphs.release(),
  }
}

interface Resources extends Others {
  readonly models: Models
  readonly manifest: FashnVtonManifest
  readonly graphs: Graphs
  readonly conditions: Conditions
  readonly categories: Recent<ProductCategory>
}

async function run(input: EngineInput, context: EngineContext, resources: Resources): Promise<EngineResult> {
  const { manifest, graphs, conditions, models } = resources
  const { mode, seed } = input.options
  const product = createProductPhoto(input, { ...resources, reduce: (photo) => limitToCanvas(photo, manifest.size) })
  const stages = createStages(context)
  const seen = input.found ?? (await findPerson(input.person, models))
  if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
  const { category, detected, warnings } = await stages.run('category', DONE.category, () =>
    resources.categories.get(keyOfProduct(input), product.category),
  )
  const posed = await stages.run('pose', DONE.pose, () => posePerson(input.person, { seen, category }, resources))
  const person = await stages.run('person', DONE.person, () => conditions.person(posed))
  const garment = await stages.run('garment', DONE.garment, () =>
    conditions.garment(keyOfProduct({ ...input, category }), () => poseProduct(product, category, resources)),
  )
  const [plan, nothing] = await stages.run('plan', DONE.plan, () =>
    Promise.all([conditions.plan(mode, category), conditions.nothing()]),
  )
  const sample = await stages.run('denoise', DONE.denoise, () =>
    denoise(graphs.denoise, startNoise(manifest.size, { seed, samples: 1 }), {
      input: { person, garment, nothing, plan, guidance: manifest.sampling.guidance },
      signal: context.signal,
      onStep: (done) => context.onProgress(progressAfter(done / plan.steps.length)),
    }),
  )
  const image = toPicture(sample, 0, posed.place)
  const change = await stages.run('region', 1, () => changeRegion(seen, category, image))
  return {
    image: { ...image, channels: 3 },
    change,
    detected,
    warnings: [
      ...(resources.wholeBody ? [] : ['POSE_WITHOUT_HANDS']),
      ...warnings,
      ...enlargementWarning(input, image),
    ],
    timings: stages.timings,
  }
}

/** Full resolution is that of the photo; what is drawn has the canvas's and is enlarged. */
function enlargementWarning({ person, options }: EngineInput, drawn: Size): readonly string[] {
  return options.fullResolution && person.width > drawn.width ? ['RESULT_ENLARGED'] : []
}

/** Of the whole work when `share` of the steps are done. */
function progressAfter(share: number): number {
  return DONE.plan * (1 - share) + DONE.denoise * share
}
