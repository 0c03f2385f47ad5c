import type { Provider, Tensor } from '../../inference/session.ts'
import type { EngineProof } from '../engine.ts'
import { createBytes } from './bytes.ts'
import { createConditions } from './conditions.ts'
import { denoise, startNoise } from './denoise.ts'
import type { Graphs } from './graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'

/** Of 0 to 255 in the mean: the same steps on the same machine. */
const TOLERANCE = 0.5
/** One with guidance and one without: all that a picture needs, and the most memory. */
const STEPS = 2

/**
 * Takes noise through two steps, twice: whatever the provider prepares is prepared, the numbers have to be finite, of a picture's size
 * and the same both times, and most operators have to have run on the provider that was asked for.
 * @throws Error that says which of these does not hold; RESULT_REJECTED when the numbers are none.
 */
export async function proveGraphs(
  graphs: Graphs,
  manifest: FashnVtonManifest,
  provider: Provider,
): Promise<EngineProof> {
  const first = await drawShortly(graphs, manifest)
  const again = await drawShortly(graphs, manifest)
  const operators = await graphs.denoise.countOperators()
  checkProvider(operators, { name: manifest.name, provider })
  const difference = meanDifference(first.sample, again.sample) * 127.5
  if (difference > TOLERANCE)
    throw new Error(
      `Self-test of the engine ${manifest.name}: the same steps differ by ${difference.toFixed(2)} of 255`,
    )
  return { operators, warmUp: { first: first.ms, again: again.ms } }
}

async function drawShortly(graphs: Graphs, manifest: FashnVtonManifest): Promise<{ sample: Tensor; ms: number }> {
  const { size, sampling } = manifest
  const conditions = createConditions(graphs, {
    ...manifest,
    sampling: { ...sampling, steps: { ...sampling.steps, fast: STEPS } },
  })
  const blank = { picture: createBytes(size, 3), skeleton: createBytes(size, 1) }
  const input = {
    person: await conditions.person(blank),
    garment: await conditions.garment('blank', async () => blank),
    nothing: await conditions.nothing(),
    plan: await conditions.plan('fast', 'tops'),
    guidance: sampling.guidance,
  }
  const started = performance.now()
  const sample = await denoise(graphs.denoise, startNoise(size, { seed: 1, samples: 1 }), {
    ...{ input, signal: new AbortController().signal, onStep: () => {} },
  })
  return { sample, ms: Math.round(performance.now() - started) }
}

function checkProvider(
  operators: Readonly<Record<string, number>>,
  { name, provider }: { name: string; provider: Provider },
): void {
  const all = Object.values(operators).reduce((sum, count) => sum + count, 0)
  const there = operators[provider] ?? 0
  if (there > all / 2) return
  const seen = Object.entries(operators).map(([ran, count]) => `${count} on ${ran}`)
  throw new Error(`The engine ${name} was to run on ${provider}, but of its operators ran ${seen.join(' and ')}`)
}

function meanDifference(a: Tensor, b: Tensor): number {
  return a.data.reduce((sum, value, i) => sum + Math.abs(value - b.data[i]), 0) / a.data.length
}
