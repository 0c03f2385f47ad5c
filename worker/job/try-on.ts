import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { Stage } from '../../api/shared/engines/stage-order.ts'
import { categoryFromWords } from '../../api/shared/generations/garment-category.ts'
import { DEFAULT_MODE, DEFAULT_SEED, garmentTypeOf, type Options } from '../../api/shared/generations/generation.ts'
import { type Bitmap, decodeImage, decodeOnWhite, encodeImage, type Rectangle } from '../../api/shared/image/image.ts'
import { ofImage } from '../../api/shared/image/image-field.ts'
import { hashImage } from '../../api/shared/image/image-hash.ts'
import type { Engine, EngineContext, EngineManifest, EngineResult } from '../engines/engine.ts'
import type { Models } from '../inference/models.ts'
import type { ResultImage, TryOnRequest, TryOnResult } from '../inference/protocol.ts'
import { drawLogo } from '../outputs/logo.ts'
import { provenancePacket } from '../outputs/provenance/xmp-packet.ts'
import { judgeInput, judgeResult } from '../outputs/safety/check-images.ts'
import { blendChange } from '../vision/composite/blend.ts'
import { keepOutside } from '../vision/composite/caller-mask.ts'
import { placeIntoFrame } from '../vision/composite/full-resolution.ts'
import { type Drawn, drawResults } from '../vision/quality/draw-results.ts'
import type { Plane, Size } from '../vision/raster/plane.ts'
import type { LastPhoto } from './last-photo.ts'
import { photoOfRequest } from './request-photo.ts'

export interface TryOnContext extends EngineContext {
  readonly models: Models
  readonly engines: ReadonlyMap<string, Engine>
  /** Absent if photos are not cached. */
  readonly lastPhoto?: LastPhoto
}

/**
 * Runs a try-on from the bytes of two images to the bytes of the result: decode, crop, engine, composite, checks,
 * encode with the provenance packet. Throws `DrapeError` of the engine, and `RESULT_REJECTED` for a result that must not be shown.
 */
export async function tryOn(request: TryOnRequest, context: TryOnContext): Promise<TryOnResult> {
  const engine = context.engines.get(request.engine)
  if (!engine)
    throw new DrapeError('GENERATION_FAILED', `This worker has no engine ${request.engine}.`, { retryable: true })
  const clock = createClock()
  const { format } = request.options
  const finish = async ({ bitmap, ...result }: Composed): Promise<ResultImage> => {
    const [image, hashes] = await Promise.all([
      encodeImage(bitmap, { format, xmp: provenancePacket(engine.manifest) }),
      hashImage(bitmap),
    ])
    clock.lap('encode')
    return { ...result, image, hash: hashes?.hash ?? null }
  }
  const { first, ...made } = await drawBitmap(request, engine, { context, clock, finish })
  // The following steps need as much memory as the inputs of the bitmap.
  if (request.options.fullResolution) globalThis.gc?.()
  const image = await finish(first)

  const { name, version, kind, license } = engine.manifest
  return {
    ...made,
    ...image,
    format,
    timings: { ...clock.laps, ...made.timings },
    engine: { name, version, kind, license: license.spdx },
  }
}

interface Composed extends Pick<ResultImage, 'seed' | 'quality' | 'changed'> {
  readonly bitmap: Bitmap
}

type Made = Pick<
  TryOnResult,
  'others' | 'refused' | 'warnings' | 'timings' | 'category' | 'detected' | 'hidesTops' | 'found' | 'body'
> & {
  readonly first: Composed
}

// A separate function, so that all inputs of the first bitmap are garbage before it is encoded.
async function drawBitmap(
  request: TryOnRequest,
  engine: Engine,
  {
    context,
    clock,
    finish,
  }: { context: TryOnContext; clock: Clock; finish: (composed: Composed) => Promise<ResultImage> },
): Promise<Made> {
  const { options } = request
  // In full resolution the memory is needed for the job.
  if (options.fullResolution) context.lastPhoto?.evict()
  const known = context.lastPhoto?.find(request)
  const [frame, garment, mask] = await Promise.all([
    known?.photo ?? ofImage('person', decodeOnWhite(request.photo)),
    ofImage('product', decodeImage(request.garment)),
    request.mask ? decodeImage(request.mask) : null,
  ])
  const category = categoryFromWords(request.product)
  const garmentType = garmentTypeOf(request.product.classifications)
  const product = { garment, garmentHash: request.garmentHash, garmentType, category, options }
  engine.prefetch?.(product)
  const { needsPerson } = engine.manifest.accepts
  const { safety = null } = request
  const analysed =
    known ??
    (await photoOfRequest(frame, request.crop, {
      models: context.models,
      needsPerson,
      countsPeople: safety?.level === 'strict',
    }))
  // The job of an erased photo is aborted.
  context.signal.throwIfAborted()
  if (!options.fullResolution) context.lastPhoto?.set(request, analysed)
  const { photo, crop, found, ...seen } = analysed
  // On a photo that was drawn on, hands before the new clothes are found less well.
  const person = seen.person && request.body ? { ...seen.person, ...request.body } : seen.person
  clock.lap('decode')
  const judge = safety && { policy: safety, models: context.models, allowances: request.allowances }
  const doubts = judge
    ? [
        ...(await judgeInput({ image: 'person', bitmap: photo, person }, judge)),
        ...(await judgeInput({ image: 'product', bitmap: garment }, judge)),
      ]
    : []
  if (judge) clock.lap('safety')
  context.signal.throwIfAborted()

  const { drawn, refused } = await drawResults(
    engine,
    { ...product, person: photo, found: person },
    {
      models: context.models,
      minQuality: request.minQuality ?? null,
      signal: context.signal,
      onProgress: (share) => context.onProgress(0.1 + 0.8 * share),
    },
  )
  // The memory that the engine no longer needs is as large as that of the following steps.
  if (options.fullResolution) globalThis.gc?.()
  clock.lap('engine')
  const parts = { request, manifest: engine.manifest, frame, garment, mask, photo, crop, person, judge }
  const warnings = new Set<string>()
  const composeOne = async (each: Drawn) => {
    const { composed, warnings: found } = await composeDrawn(each, parts)
    for (const warning of found) warnings.add(warning)
    clock.lap('composite')
    context.signal.throwIfAborted()
    return composed
  }
  const [first, ...rest] = drawn
  const others: ResultImage[] = []
  for (const other of rest) others.push(await finish(await composeOne(other)))
  return {
    first: await composeOne(first),
    ...(others.length > 0 && { others }),
    ...(refused.length > 0 && {
      refused: refused.map(({ seed, error }) => ({ seed, errorCode: error.code, errorMessage: error.message })),
    }),
    warnings: [
      ...(needsPerson ? seen.warnings : []),
      ...new Set(doubts),
      ...warnAboutOptions(engine.manifest, options),
      ...warnings,
    ],
    timings: first.timings,
    category: category ?? first.detected?.category ?? null,
    detected: first.detected ?? null,
    hidesTops: first.hidesTops,
    found,
    ...(person && { body: { face: person.face, hands: person.hands } }),
  }
}

interface CompositionParts {
  readonly request: TryOnRequest
  readonly manifest: EngineManifest
  readonly frame: Bitmap
  readonly garment: Bitmap
  /** The caller's; null: the whole photo may change. */
  readonly mask: Bitmap | null
  readonly photo: Bitmap
  readonly crop: Rectangle | null
  readonly person: Parameters<typeof judgeResult>[0]['person']
  /** Null: nothing is checked. */
  readonly judge: Parameters<typeof judgeResult>[1] | null
}

/** Puts a drawing into the photo, as far as the mask of the call allows, checks the result and adds the logo. */
async function composeDrawn(
  { image, change, seed, quality, warnings }: Drawn,
  { request, manifest, frame, garment, mask, photo, crop, person, judge }: CompositionParts,
): Promise<{ composed: Composed; warnings: readonly string[] }> {
  const { fullResolution, changedMask } = request.options
  // Here, so that the whole drawing was judged.
  if (mask) keepOutside(change, { bitmap: mask, frame, crop })
  if (mask && manifest.accepts.needsPerson) assertChange(change)
  const drawn = { image, change }
  const result = compose({ frame, photo, crop, drawn, fullResolution })
  const shown = changedMask ? showChange({ frame, photo, crop, change, fullResolution }) : null
  const changed = shown && (await encodeImage(shown, { format: 'png' }))
  if (judge) await judgeResult({ result, photo, person, garment, drawn }, judge)
  // A test engine returns the photo unchanged, to the last bit.
  const marked = await addLogo(result, manifest.kind === 'test' ? null : request.logo)
  return {
    composed: { bitmap: marked.bitmap, seed, quality, ...(changed && { changed }) },
    warnings: [...warnings, ...marked.warnings],
  }
}

/** Requested options without effect cause a warning; defaults do not. */
function warnAboutOptions({ ignores = [] }: EngineManifest, { seed, mode }: Options): readonly string[] {
  return [
    ...(ignores.includes('seed') && seed !== DEFAULT_SEED ? ['SEED_IGNORED'] : []),
    ...(ignores.includes('mode') && mode !== DEFAULT_MODE ? ['MODE_IGNORED'] : []),
  ]
}

function compose({
  frame,
  photo,
  crop,
  drawn,
  fullResolution,
}: {
  frame: Bitmap
  photo: Bitmap
  crop: Rectangle | null
  drawn: Pick<EngineResult, 'image' | 'change'>
  fullResolution: boolean
}): Bitmap {
  if (crop && fullResolution) return placeIntoFrame({ frame, crop, ...drawn })
  return blendChange({ photo, ...drawn })
}

/** The change as it was composed: grey, black where the result equals the photo. */
function showChange({
  frame,
  photo,
  crop,
  change,
  fullResolution,
}: Omit<Parameters<typeof compose>[0], 'drawn'> & { change: Plane }): Bitmap {
  const fill = ({ width, height }: Size, level: number): Bitmap => ({
    ...{ width, height, channels: 3 },
    data: new Uint8Array(width * height * 3).fill(level),
  })
  const drawn = { image: fill(change, 255), change }
  return compose({ frame: fill(frame, 0), photo: fill(photo, 0), crop, drawn, fullResolution })
}

/** @throws RESULT_REJECTED if the mask of the call leaves nothing of the drawing */
function assertChange({ data }: Plane): void {
  if (data.some((share) => share >= 0.5)) return
  throw new DrapeError(
    'RESULT_REJECTED',
    'The result changes nothing in the region of output.mask. Allow a larger region.',
    {
      details: [{ path: 'output.mask', message: 'allows nothing that the product changes' }],
    },
  )
}

/** A missing or unreadable logo causes a warning, not a failure. */
async function addLogo(
  bitmap: Bitmap,
  logo: TryOnRequest['logo'],
): Promise<{ bitmap: Bitmap; warnings: readonly string[] }> {
  if (logo === null) return { bitmap, warnings: [] }
  const decoded = logo === 'missing' ? null : await decodeImage(logo).catch(() => null)
  if (!decoded) return { bitmap, warnings: ['WATERMARK_MISSING'] }
  return { bitmap: await drawLogo(bitmap, decoded), warnings: [] }
}

interface Clock {
  readonly laps: Readonly<Record<string, number>>
  lap(name: Stage): void
}

function createClock(): Clock {
  const laps: Record<string, number> = {}
  let last = performance.now()
  return {
    laps,
    lap: (name: Stage) => {
      const now = performance.now()
      laps[name] = Math.round((laps[name] ?? 0) + now - last)
      last = now
    },
  }
}
