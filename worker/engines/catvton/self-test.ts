import type { Provider, Tensor } from '../../inference/session.ts'
import { createPlane } from '../../raster/plane.ts'
import type { Conformance } from '../conformance.ts'
import { createBytes } from '../diffusion/bytes.ts'
import { proveEngine } from '../diffusion/self-test.ts'
import type { EngineProof } from '../engine.ts'
import { createConditions } from './conditions.ts'
import { denoise, latentNoise } from './denoise.ts'
import type { Graphs } from './graphs.ts'
import { decodePersons } from './latents.ts'
import type { CatVtonManifest } from './manifest.ts'

/** Inpaints the middle of a black image with a black product, with and without added noise. Throws as `proveEngine` does. */
export function proveGraphs(
  graphs: Graphs,
  manifest: CatVtonManifest,
  asked: { provider: Provider; conformance: Conformance },
): Promise<EngineProof> {
  return proveEngine({
    manifest,
    ...asked,
    draw: (short) => drawBlank(graphs, short),
    countOperators: () => graphs.denoiser.countOperators(),
  })
}

async function drawBlank(graphs: Graphs, manifest: CatVtonManifest): Promise<Tensor> {
  const { size, sampling, latentScale } = manifest
  const conditions = createConditions(graphs, manifest)
  const mask = createPlane(size)
  mask.data.fill(1, (size.height / 4) * size.width, (size.height / 2) * size.width)
  const { latent, mask: cells } = await conditions.person(createBytes(size, 3), mask)
  const garment = await conditions.garment('blank', async () => createBytes(size, 3))
  const input = {
    ...{ person: latent, garment, mask: cells, steps: conditions.steps('fast'), guidance: sampling.guidance },
    noise: latentNoise(latent, { seed: 1, samples: 1 }),
  }
  const sample = await denoise(graphs.denoiser, input, { signal: new AbortController().signal, onStep: () => {} })
  return decodePersons(graphs.decoder, sample, latentScale)
}
