import { DrapeError } from '../../api/shared/contract/errors.ts'
import {
  type JobProduct,
  LAYERS,
  type Layer,
  type LayerOutcome,
  type TryOnJob,
} from '../../api/shared/generations/generation.ts'
import { failedFields } from '../../api/shared/image/image-field.ts'
import type { TryOnRequest, TryOnResult } from '../inference/protocol.ts'

/** One product of a job, to be drawn over the products before it. */
export interface Pass {
  /** Index of the product in the call. */
  readonly index: number
  readonly product: JobProduct
  /** Null for a product that is not part of an outfit. */
  readonly layer: Layer | null
}

/** What a pass is drawn on: at first the photo of the person, then the result of the pass before. */
export type Under = Pick<TryOnRequest, 'photo' | 'crop' | 'body'>

/** A pass, and its place among all. */
export interface PlacedPass extends Pass {
  readonly under: Under
  /** Whether the result is that of the job. The others are lossless, without logo. */
  readonly isLast: boolean
  /** Progress of the job at the start and the end of the pass, 0 to 1. */
  readonly progress: readonly [start: number, end: number]
}

interface Drawn {
  readonly pass: Pass
  readonly result: TryOnResult
}

export interface DrawnLayers extends TryOnResult {
  /** What became of each product of an outfit, in the order of the call; absent for a single product. */
  readonly layers?: readonly LayerOutcome[]
  /** The applied products but the hidden ones. */
  readonly applied: readonly Drawn[]
}

/**
 * Draws the products of a job, the innermost first, each on the result of the one before. Throws the first refusal; if the job may lack
 * products, only when all are refused. A product that another one hides is applied, but not in the picture.
 */
export async function drawLayers(
  job: TryOnJob,
  photo: Under,
  draw: (pass: PlacedPass) => Promise<TryOnResult>,
): Promise<DrawnLayers> {
  const passes = passesOf(job)
  let applied: AppliedPass[] = []
  const refusals = new Map<number, DrapeError>()
  let under = photo
  for (const [i, pass] of passes.entries()) {
    const isLast = i === passes.length - 1
    const [start, end] = [i / passes.length, (i + 1) / passes.length]
    try {
      const placed = { ...pass, under, isLast, progress: [start, end] } as const
      const result = await draw(placed)
      const hides = result.hidesTops ? applied.filter((other) => isTop(other.pass)) : []
      // On the picture before the products that it hides: their removal would leave traces.
      const before = hides.length > 0 ? { ...placed, under: hides[0].under, progress: [end, end] as const } : null
      const drawn = (before && (await drawIfAccepted(before, draw))) ?? { pass, under, result }
      applied = [...applied.filter((other) => !hides.includes(other)), drawn]
      under = {
        photo: drawn.result.image,
        crop: cropOfResult(job, drawn.under, drawn.result),
        body: drawn.result.body,
      }
    } catch (error) {
      if (!mayLeaveOut(error, job)) throw error
      refusals.set(pass.index, error)
    }
  }
  const last = applied.pop()
  if (last === undefined) throw [...refusals.values()][0]
  // Without the outermost product, the result below it is drawn again as that of the job.
  const isFinished = !refusals.has(passes[passes.length - 1].index)
  const result = isFinished
    ? last.result
    : await draw({ ...last.pass, under: last.under, isLast: true, progress: [1, 1] })
  return summarise(job, [...applied, { pass: last.pass, result }], refusals)
}

/** Null if the pass is refused. */
async function drawIfAccepted(
  pass: PlacedPass,
  draw: (pass: PlacedPass) => Promise<TryOnResult>,
): Promise<AppliedPass | null> {
  try {
    return { pass, under: pass.under, result: await draw(pass) }
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

interface AppliedPass extends Drawn {
  readonly under: Under
}

function isTop({ layer }: Pass): boolean {
  return layer === 'tops' || layer === 'outerwear'
}

function passesOf({ product, layers }: TryOnJob): Pass[] {
  if (!layers) return [{ index: 0, product, layer: null }]
  const all = layers.map(({ layer, product }, index) => ({ index, layer, product }))
  return all.toSorted((a, b) => LAYERS.indexOf(a.layer) - LAYERS.indexOf(b.layer))
}

/** In full resolution a result is the whole frame, otherwise the crop. */
function cropOfResult({ options }: TryOnJob, { crop }: Under, { found }: TryOnResult): Under['crop'] {
  if (!options.fullResolution) return 'none'
  return crop === 'auto' ? (found?.crop ?? 'none') : crop
}

function mayLeaveOut(error: unknown, { options }: TryOnJob): error is DrapeError {
  return options.partial === true && isRefusal(error)
}

/** Refusals by a safety check end the whole outfit: they are about the person or the image as a whole. */
function isRefusal(error: unknown): error is DrapeError {
  return error instanceof DrapeError && !error.retryable && error.check === undefined
}

function summarise(
  { layers }: TryOnJob,
  applied: readonly Drawn[],
  refusals: ReadonlyMap<number, DrapeError>,
): DrawnLayers {
  const results = applied.map(({ result }) => result)
  const last = results[results.length - 1]
  if (!layers) return { ...last, applied }
  const timings: Record<string, number> = {}
  for (const result of results)
    for (const [stage, ms] of Object.entries(result.timings)) timings[stage] = (timings[stage] ?? 0) + ms
  const qualities = results.flatMap(({ quality }) => (quality === null ? [] : [quality]))
  const warnings = results.flatMap((result) => result.warnings)
  return {
    ...last,
    warnings: [
      ...new Set([
        ...warnings,
        ...(applied.length + refusals.size < layers.length ? ['PRODUCT_HIDDEN'] : []),
        ...(refusals.size > 0 ? ['PRODUCT_LEFT_OUT'] : []),
      ]),
    ],
    timings,
    category: null,
    // That of the worst layer that is seen.
    quality: qualities.length === 0 ? null : Math.min(...qualities),
    layers: layers.map((_, index) => outcomeOf(index, applied, refusals)),
    applied,
  }
}

// A product that was neither drawn nor refused is hidden.
function outcomeOf(index: number, applied: readonly Drawn[], refusals: ReadonlyMap<number, DrapeError>): LayerOutcome {
  const result = applied.find(({ pass }) => pass.index === index)?.result
  const refusal = refusals.get(index)
  return {
    applied: refusal === undefined,
    warnings: result?.warnings ?? (refusal ? [] : ['PRODUCT_HIDDEN']),
    quality: result?.quality ?? null,
    errorCode: refusal?.code ?? null,
    errorMessage: refusal?.message ?? null,
  }
}

/** Adds to an error of a pass the fields of the call that it is about. `order` is the index of the product image. */
export function withFields(error: unknown, index: number, order: number | null): unknown {
  if (!(error instanceof DrapeError) || error.retryable) return error
  const { code, message, image, check } = error
  const details = failedFields(error, { product: index, image: order })
  return new DrapeError(code, message, { details, image, check, cause: error })
}
