import type { Rectangle } from '../../../api/shared/image.ts'
import { changedRegion } from '../../composite/region.ts'
import { personAtSize } from '../../person/within.ts'
import { featherMask } from '../../raster/feather.ts'
import { type Mask, maskToPlane, type Plane, type Size } from '../../raster/plane.ts'
import { type Bytes, createBytes, onWhite } from '../diffusion/bytes.ts'
import { createDiffusionEngine, type Drawing, type Drawn } from '../diffusion/diffusion-engine.ts'
import { createParser, type Parser } from '../diffusion/parser/parse.ts'
import { keyOfProduct } from '../diffusion/product.ts'
import { resizeLanczos } from '../diffusion/resize-lanczos.ts'
import { toBitmap } from '../diffusion/tensors.ts'
import type { Engine } from '../engine.ts'
import type { EngineResources } from '../registry.ts'
import { type Conditions, createConditions } from './conditions.ts'
import { denoise, latentNoise } from './denoise.ts'
import { type Graphs, openGraphs } from './graphs.ts'
import { findInpaintRegion } from './inpaint-region.ts'
import { decodePersons } from './latents.ts'
import type { CatVtonManifest } from './manifest.ts'
import { placeProduct } from './product.ts'
import { proveGraphs } from './self-test.ts'
import { placeFromCanvas, planeOnCanvas, showOnCanvas, windowAround } from './window.ts'

/** Progress after each stage, as a share of the whole work. */
const PROGRESS = { category: 0.02, region: 0.05, person: 0.08, garment: 0.1, denoise: 0.95, decode: 0.99 }
/** Min px of the longer side of the bitmap in which people are detected. */
const MIN_SIDE = 720
/** Feather of the region's edge in canvas heights, as in the published demo. */
const FEATHER = 9 / 1024
/** A smaller change does not alter any byte. */
const MIN_SHARE = 1 / 512

/**
 * The CatVTON engine from a folder that `scripts/export-engine` made: a latent diffusion model inpaints the masked region of the worn
 * garment, conditioned on the product image beside it.
 *
 * A run throws `DrapeError` NO_PERSON_DETECTED, MISSING_REQUIRED_CLASSIFICATION as `ProductPhoto.worn`, RESULT_REJECTED if the person
 * is not seen from the front or the model returns NaN, and the signal's reason after an abort.
 * @throws Error as `openEngineGraphs`
 */
export async function openCatVton(
  folder: string,
  manifest: CatVtonManifest,
  { models, provider, conformance }: EngineResources,
): Promise<Engine> {
  const graphs = await openGraphs(folder, manifest, { provider })
  const parser = await openParser(graphs)
  const conditions = createConditions(graphs, manifest)
  return createDiffusionEngine({
    models,
    manifest,
    parser,
    reduce: (photo) => limitToModels(photo, manifest.size),
    draw: (drawing) => draw(drawing, { manifest, graphs, conditions }),
    selfTest: async () => {
      await parser?.parse(createBytes(manifest.size, 3))
      return proveGraphs(graphs, manifest, { provider, conformance })
    },
    cache: conditions.cache,
    release: () => graphs.release(),
  })
}

interface Resources {
  readonly manifest: CatVtonManifest
  readonly graphs: Graphs
  readonly conditions: Conditions
}

async function draw(drawing: Drawing, { manifest, graphs, conditions }: Resources): Promise<Drawn> {
  const { input, signal, stages, product } = drawing
  const { size, sampling, latentScale } = manifest
  const shown = await drawing.findCategory(PROGRESS.category)
  const { category } = shown
  const frame = limitToCanvas(onWhite(input.person), size)
  const region = await stages.run('region', PROGRESS.region, async () => {
    const seen = await drawing.findPerson()
    return findInpaintRegion({ ...frame, channels: 3 }, personAtSize(seen, frame), category)
  })
  const { change, window } = softenRegion(region, size)
  const person = await stages.run('person', PROGRESS.person, () =>
    conditions.person(showOnCanvas(frame, window, size), planeOnCanvas(maskToPlane(region), window, size)),
  )
  const garment = await stages.run('garment', PROGRESS.garment, () =>
    conditions.garment(keyOfProduct({ ...input, category }), () =>
      placeProduct(input.garment, product, { category, canvas: size }),
    ),
  )
  const steps = conditions.steps(input.options.mode)
  const noise = latentNoise(person.latent, { seed: input.options.seed, samples: 1 })
  const range = { from: PROGRESS.garment, to: PROGRESS.denoise }
  const sample = await stages.run('denoise', PROGRESS.denoise, () =>
    denoise(
      graphs.denoiser,
      { person: person.latent, garment, mask: person.mask, steps, guidance: sampling.guidance, noise },
      { signal, onStep: (done) => drawing.reportSteps(range, done / steps.length) },
    ),
  )
  const bitmap = await stages.run('vae-decode', PROGRESS.decode, () =>
    decodePersons(graphs.decoder, sample, latentScale),
  )
  const drawn = toBitmap(bitmap, 0, { x: 0, y: 0, ...size, rounded: true })
  const image = await stages.run('paste', 1, () => placeFromCanvas(frame, drawn, window))
  return { image, change, category: shown }
}

async function openParser(graphs: Graphs): Promise<Parser | null> {
  try {
    return graphs.parsing && createParser(graphs.parsing)
  } catch (error) {
    await graphs.release()
    throw error
  }
}

/** Limits the product photo to twice the canvas height: a garment cutout fills less than the photo. */
function limitToModels(photo: Bytes, canvas: Size): Bytes {
  const scale = Math.max(2 * canvas.height, MIN_SIDE) / Math.max(photo.width, photo.height)
  if (scale >= 1) return photo
  const side = (length: number) => Math.max(1, Math.round(length * scale))
  return resizeLanczos(photo, { width: side(photo.width), height: side(photo.height) })
}

/** Reduces the photo so that it still covers the canvas and people remain detectable. */
function limitToCanvas(photo: Bytes, canvas: Size): Bytes {
  const seen = MIN_SIDE / Math.max(photo.width, photo.height)
  const scale = Math.max(canvas.width / photo.width, canvas.height / photo.height, seen)
  if (scale >= 1) return photo
  return resizeLanczos(photo, { width: Math.round(photo.width * scale), height: Math.round(photo.height * scale) })
}

function softenRegion(region: Mask, canvas: Size): { change: Plane; window: Rectangle } {
  const inside = windowAround(region, { x: 0, y: 0, width: 0, height: 0 }, canvas)
  const soft = featherMask(region, FEATHER * inside.height)
  const change = { ...soft, data: soft.data.map((share) => (share < MIN_SHARE ? 0 : Math.min(1, share))) }
  return { change, window: windowAround(region, changedRegion(change), canvas) }
}
