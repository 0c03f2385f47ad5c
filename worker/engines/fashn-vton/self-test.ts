import type { Provider, Tensor } from '../../inference/session.ts'
import { createBytes } from '../../raster/bytes.ts'
import type { Conformance } from '../conformance.ts'
import type { EngineProof } from '../engine.ts'
import { createConditions } from './conditions.ts'
import { denoise, startNoise } from './denoise.ts'
import type { Graphs } from './graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { proveEngine } from './prove-engine.ts'

/** Draws from black images: one step with guidance and one without. Throws as `proveEngine` does. */
export function proveGraphs(
  graphs: Graphs,
  manifest: FashnVtonManifest,
  asked: { provider: Provider; conformance: Conformance },
): Promise<EngineProof> {
  return proveEngine({
    manifest,
    ...asked,
    draw: (short) => drawBlank(graphs, short),
    countOperators: () => graphs.denoise.countOperators(),
  })
}

async function drawBlank(graphs: Graphs, manifest: FashnVtonManifest): Promise<Tensor> {
  const { size, sampling } = manifest
  const conditions = createConditions(graphs, manifest)
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
