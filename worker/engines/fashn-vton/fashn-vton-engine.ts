import type { Engine } from '../engine.ts'
import type { EngineResources } from '../registry.ts'
import { limitToCanvas } from './canvas.ts'
import { type Conditions, createConditions } from './conditions.ts'
import { denoise, startNoise } from './denoise.ts'
import { createDiffusionEngine, type Drawing, type Drawn } from './diffusion-engine.ts'
import { type Graphs, openGraphs } from './graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { posePerson, poseProduct } from './posed.ts'
import { keyOfProduct } from './product-photo.ts'
import { changeRegion } from './region.ts'
import { proveGraphs } from './self-test.ts'
import { toBitmap } from './tensors.ts'
import { createThirdPartyModels, type ThirdPartyModels, testThirdPartyModels } from './third-party-models.ts'

/** Progress after each stage, as a share of the whole work. */
const PROGRESS = { category: 0.01, pose: 0.03, person: 0.05, garment: 0.08, plan: 0.1, denoise: 0.98 }

/**
 * The FASHN VTON v1.5 engine from a folder that `scripts/export-engine` made: a diffusion transformer draws the person in the garment
 * on its canvas, without a mask unless the folder has a parser. The region of the garment then replaces the photo.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`, RESULT_REJECTED if the model
 * returns NaN, and the signal's reason after an abort.
 * @throws Error as `openGraphs`
 */
export async function openFashnVton(
  folder: string,
  manifest: FashnVtonManifest,
  { models, provider, conformance }: EngineResources,
): Promise<Engine> {
  const graphs = await openGraphs(folder, manifest, { provider })
  const thirdParty = await createThirdPartyModels(graphs)
  const conditions = createConditions(graphs, manifest)
  return createDiffusionEngine({
    models,
    manifest,
    parser: thirdParty.parser,
    reduce: (photo) => limitToCanvas(photo, manifest.size),
    draw: (drawing) => draw(drawing, { manifest, graphs, conditions, ...thirdParty }),
    selfTest: async () => {
      await testThirdPartyModels(thirdParty, manifest.size)
      return proveGraphs(graphs, manifest, { provider, conformance })
    },
    cache: conditions.cache,
    release: () => graphs.release(),
  })
}

interface Resources extends ThirdPartyModels {
  readonly manifest: FashnVtonManifest
  readonly graphs: Graphs
  readonly conditions: Conditions
}

async function draw(drawing: Drawing, resources: Resources): Promise<Drawn> {
  const { input, signal, stages, product } = drawing
  const { manifest, graphs, conditions } = resources
  const { mode, seed } = input.options
  const seen = await drawing.findPerson()
  const shown = await drawing.findCategory(PROGRESS.category)
  const { category } = shown
  const posed = await stages.run('pose', PROGRESS.pose, () => posePerson(input.person, { seen, category }, resources))
  const person = await stages.run('person', PROGRESS.person, () => conditions.person(posed))
  const garment = await stages.run('garment', PROGRESS.garment, () =>
    conditions.garment(keyOfProduct({ ...input, category }), () => poseProduct(product, category, resources)),
  )
  const [plan, nothing] = await stages.run('plan', PROGRESS.plan, () =>
    Promise.all([conditions.plan(mode, category), conditions.nothing()]),
  )
  const range = { from: PROGRESS.plan, to: PROGRESS.denoise }
  const sample = await stages.run('denoise', PROGRESS.denoise, () =>
    denoise(graphs.denoise, startNoise(manifest.size, { seed, samples: 1 }), {
      input: { person, garment, nothing, plan, guidance: manifest.sampling.guidance },
      signal,
      onStep: (done) => drawing.reportSteps(range, done / plan.steps.length),
    }),
  )
  const image = toBitmap(sample, 0, posed.place)
  const change = await stages.run('change', 1, () => changeRegion(seen, category, image))
  return { image, change, category: shown, warnings: resources.wholeBody ? [] : ['POSE_WITHOUT_HANDS'] }
}
