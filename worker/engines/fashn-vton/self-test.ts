import type { Provider, Tensor } from '../../inference/session.ts'
import type { Conformance } from '../conformance.ts'
import { createBytes } from '../diffusion/bytes.ts'
import { proveEngine } from '../diffusion/self-test.ts'
import type { EngineProof } from '../engine.ts'
import { createConditions } from './conditions.ts'
import { denoise, startNoise } from './denoise.ts'
import type { Graphs } from './graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'

/** One step with guidance and one without: runs all graphs at peak memory. */
const STEPS = 2

/** Draws from black images in two steps. Throws as `proveEngine` does. */
export function proveGraphs(
  graphs: Graphs,
  manifest: FashnVtonManifest,
  asked: { provider: Provider; conformance: Conformance },
): Promise<EngineProof> {
  return proveEngine({
    manifest,
    ...asked,
    draw: () => drawShortly(graphs, manifest),
    countOperators: () => graphs.denoise.countOperators(),
  })
}

async function drawShortly(graphs: Graphs, manifest: FashnVtonManifest): Promise<Tensor> {
  const { size, sampling } = manifest
  const conditions = createConditions(graphs, {
    ...manifest,
    sampling: { ...sampling, steps: { ...sampling.steps, fast: STEPS } },
  })
  const blank = { bitmap: createBytes(size, 3), skeleton: createBytes(size, 1) }
  const input = {
    person: await conditions.person(blank),
    garment: await conditions.garment('blank', async () => blank),
    nothing: await conditions.nothing(),
    plan: await conditions.plan('fast', 'tops'),
    guidance: sampling.guidance,
  }
  return denoise(graphs.denoise, startNoise(size, { seed: 1, samples: 1 }), {
    ...{ input, signal: new AbortController().signal, onStep: () => {} },
  })
}
