import { DrapeError } from '../../../api/shared/errors.ts'
import type { Rectangle } from '../../../api/shared/image.ts'
import type { Models } from '../../inference/models.ts'
import type { Provider } from '../../inference/session.ts'
import { findPerson } from '../../person/find-person.ts'
import type { Person } from '../../person/person.ts'
import type { Bitmap, Size } from '../../raster/plane.ts'
import { type Bytes, createBytes, onWhite } from '../diffusion/bytes.ts'
import { categoryOfProduct, findWearer, type ProductCategory, type TrainedCategory } from '../diffusion/product.ts'
import { keepRecent, keptTogether, type Recent } from '../diffusion/recent.ts'
import { toPicture } from '../diffusion/tensors.ts'
import type { Engine, EngineContext, EngineInput, EngineResult } from '../engine.ts'
import { createStages } from '../stages.ts'
import { fitOnCanvas, limitToCanvas, placeOnCanvas } from './canvas.ts'
import { type Conditions, createConditions, type Posed } from './conditions.ts'
import { denoise, startNoise } from './denoise.ts'
import { createWholeBodyFinder, type WholeBodyFinder } from './dwpose/find-people.ts'
import { type Graphs, openGraphs } from './graphs.ts'
import { poseOf } from './keypoints.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { agnosticMask } from './masked/agnostic-mask.ts'
import { paintOver } from './masked/paint-over.ts'
import { createParser, type Parser } from './masked/parse.ts'
import { wholeBodyOf } from './pose.ts'
import { placeAnyProduct, placeProduct } from './product.ts'
import { changeRegion } from './region.ts'
import { proveGraphs } from './self-test.ts'
import { drawSkeleton } from './skeleton.ts'

/** Shares of the work that are done when a stage is. */
const DONE = { category: 0.01, pose: 0.03, person: 0.05, garment: 0.08, plan: 0.1, denoise: 0.98 }
const KEPT_CATEGORIES = 256

/**
 * The engine FASHN VTON v1.5 of a folder that `scripts/export-engine` made: a diffusion transformer draws the person in the garment
 * on its canvas, without a mask, and the part where the garment lies replaces the photo.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION when the product photo shows a worn garment,
 * RESULT_REJECTED when the model returns no numbers, and the signal's reason when it is aborted.
 * @throws Error as `openGraphs`
 */
export async function openFashnVton(
  folder: string,
  manifest: FashnVtonManifest,
  { models, provider }: { models: Models; provider: Provider },
): Promise<Engine> {
  const graphs = await openGraphs(folder, manifest, { provider })
  const resources = {
    models,
    manifest,
    ...(await describeOthers(graphs)),
    graphs,
    conditions: createConditions(graphs, manifest),
    categories: keepRecent<ProductCategory>(KEPT_CATEGORIES, () => 1),
  }
  const { name, version, kind, license, accepts, aiGenerated } = manifest
  return {
    manifest: { name, version, kind, license, accepts, aiGenerated },
    run: (input, context) => run(input, context, resources),
    selfTest: async () => {
      await tryOthers(resources)
      return proveGraphs(graphs, manifest, provider)
    },
    kept: keptTogether(resources.conditions.kept, resources.categories),
    release: () => graphs.release(),
  }
}

/** What can be done with models of others, where the folder has them. */
async function describeOthers(graphs: Graphs): Promise<Pick<Resources, 'wholeBody' | 'parser'>> {
  try {
    return {
      wholeBody: graphs.pose && createWholeBodyFinder(graphs.pose),
      parser: graphs.parsing && createParser(graphs.parsing),
    }
  } catch (error) {
    await graphs.release()
    throw error
  }
}

/** Nobody is in an empty picture, but the graphs have to have run once before a job, with numbers. */
async function tryOthers({ manifest: { size }, wholeBody, parser }: Resources): Promise<void> {
  const blank = createBytes(size, 3)
  await wholeBody?.find(blank)
  await parser?.parse(blank)
}

interface Resources {
  readonly models: Models
  readonly manifest: FashnVtonManifest
  /** Where the operator has DWPose; else BlazePose's points are drawn. */
  readonly wholeBody: WholeBodyFinder | null
  /** Where the operator has one, what the person wears is painted over and products may be worn. */
  readonly parser: Parser | null
  readonly graphs: Graphs
  readonly conditions: Conditions
  readonly categories: Recent<ProductCategory>
}

async function run(input: EngineInput, context: EngineContext, resources: Resources): Promise<EngineResult> {
  const { manifest, graphs, conditions, models } = resources
  const { mode, seed } = input.options
  const stages = createStages(context)
  const seen = input.found ?? (await findPerson(input.person, models))
  if (!seen) throw new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person')
  const { category, detected, warnings } = await stages.run('category', DONE.category, () =>
    resources.categories.get(`${input.garmentHash} ${input.category}`, async () =>
      categoryOfProduct(input.garment, input.category),
    ),
  )
  const posed = await stages.run('pose', DONE.pose, () => posePerson(input.person, { seen, category }, resources))
  const person = await stages.run('person', DONE.person, () => conditions.person(posed))
  const garment = await stages.run('garment', DONE.garment, () =>
    conditions.garment(`${input.garmentHash} ${category}`, () => poseProduct(input.garment, category, resources)),
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

/**
 * The photo on the canvas, what is worn painted over where there is a parser, and the skeleton of the person in it, drawn at the photo's
 * size before both are brought there.
 */
async function posePerson(
  photo: Bitmap,
  { seen, category }: { seen: Person; category: TrainedCategory },
  { manifest: { size }, wholeBody, parser }: Resources,
): Promise<Posed & { readonly place: Rectangle }> {
  const limited = limitToCanvas(onWhite(photo), size)
  const people = wholeBody ? await wholeBody.find(limited) : [wholeBodyOf(seen, photo, limited)]
  const skeleton = drawSkeleton(poseOf(people, limited), limited)
  const picture = parser ? paintOver(limited, agnosticMask(await parser.parse(limited), category)) : limited
  return {
    picture: fitOnCanvas(picture, size),
    skeleton: fitOnCanvas(skeleton, size, { exact: true }),
    place: placeOnCanvas(limited, size),
  }
}

function poseProduct(
  photo: Bitmap,
  category: TrainedCategory,
  { manifest: { size }, models, wholeBody, parser }: Resources,
): Promise<Posed> {
  if (!parser) return placeProduct(photo, size, models)
  const skeletonOf = async (picture: Bytes): Promise<Bytes | null> => {
    const wearer = await findWearer({ ...picture, channels: 3 }, models)
    if (!wearer) return null
    const people = wholeBody ? await wholeBody.find(picture) : [wholeBodyOf(wearer, picture, picture)]
    return drawSkeleton(poseOf(people, picture), picture)
  }
  return placeAnyProduct(photo, category, { canvas: size, parser, skeletonOf })
}
