import { DeviceFault } from '../../inference/device-fault.ts'
import type { Provider, Tensor } from '../../inference/session.ts'
import { createBytes } from '../../vision/raster/bytes.ts'
import type { Conformance } from '../conformance.ts'
import type { EngineProof } from '../engine.ts'
import { createConditions } from './conditions.ts'
import { denoise, startNoise } from './denoise.ts'
import type { Graphs } from './graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'

/** Steps of a drawing: enough to run all graphs at their peak memory. */
const STEPS = 2

/** Max mean difference, on a scale of −1 to 1, of the same steps on the same machine. */
const MAX_REPEAT_DIFFERENCE = 0.004

/** Min share of operators on the requested provider: those that compute shapes and loops run on the CPU anyway. */
const MIN_SHARE_ON_PROVIDER = 0.95

/**
 * Draws twice from black images, one step with guidance and one without, which also warms up the provider. Both drawings must be equal
 * and match the golden drawing of the export within `conformance`; nearly all operators must run on the requested provider.
 * @throws Error that names the failed condition, `DeviceFault` if the drawings differ, and errors of `denoise`
 */
export async function proveGraphs(
  graphs: Graphs,
  manifest: FashnVtonManifest,
  { provider, conformance }: { provider: Provider; conformance: Conformance },
): Promise<EngineProof> {
  const { name, golden } = manifest
  const first = await time(() => drawBlank(graphs, manifest))
  const again = await time(() => drawBlank(graphs, manifest))
  const operators = await graphs.denoise.countOperators()
  checkProvider(operators, { name, provider })
  const difference = meanDifference(first.drawn, again.drawn)
  if (difference > MAX_REPEAT_DIFFERENCE)
    throw new DeviceFault(
      'SelfTestDrift',
      `Self-test of the engine ${name}: two runs of the same steps differ by ${(difference * 127.5).toFixed(2)} of 255`,
    )
  checkGolden(again.drawn, { name, golden, conformance })
  return { operators, warmUp: { first: first.ms, again: again.ms } }
}

async function drawBlank(graphs: Graphs, manifest: FashnVtonManifest): Promise<Tensor> {
  const { size, sampling } = manifest
  const short = { ...manifest, sampling: { ...sampling, steps: { ...sampling.steps, fast: STEPS } } }
  const conditions = createConditions(graphs, short)
  const blank = { bitmap: createBytes(size, 3), skeleton: createBytes(size, 1) }
  const input = {
    person: await conditions.person(blank),
    garment: await conditions.garment('blank', async () => blank),
    nothing: await conditions.nothing(),
    plan: await conditions.plan('fast', 'tops'),
    guidance: sampling.guidance,
  }
  return denoise(graphs.denoise, startNoise(size, 1), {
    input,
    signal: new AbortController().signal,
    onStep: () => {},
  })
}

async function time(draw: () => Promise<Tensor>): Promise<{ drawn: Tensor; ms: number }> {
  const started = performance.now()
  return { drawn: await draw(), ms: Math.round(performance.now() - started) }
}

function checkProvider(
  operators: Readonly<Record<string, number>>,
  { name, provider }: { name: string; provider: Provider },
): void {
  const all = Object.values(operators).reduce((sum, count) => sum + count, 0)
  const there = operators[provider] ?? 0
  if (all > 0 && there >= MIN_SHARE_ON_PROVIDER * all) return
  const seen = Object.entries(operators).map(([ran, count]) => `${count} on ${ran}`)
  throw new Error(`The engine ${name} must run on ${provider}, but its operators ran ${seen.join(' and ')}`)
}

function meanDifference(a: Tensor, b: Tensor): number {
  return a.data.reduce((sum, value, i) => sum + Math.abs(value - b.data[i]), 0) / a.data.length
}

/** Golden values are evenly spaced over the drawing, starting at the first value. */
function checkGolden(
  { data }: Tensor,
  { name, golden, conformance }: { name: string; golden?: readonly number[]; conformance: Conformance },
): void {
  if (!golden) {
    if (conformance.goldenRequired)
      throw new Error(
        `Self-test of the engine ${name}: its export contains no golden drawing, but SELF_TEST_GOLDEN requires one`,
      )
    return
  }
  const places = golden.map((_, i) => Math.floor((i * data.length) / golden.length))
  const squares = (values: readonly number[]) => values.reduce((sum, value) => sum + value ** 2, 0)
  const off = Math.sqrt(squares(golden.map((value, i) => value - data[places[i]])) / squares(golden))
  // Also false for NaN.
  if (off <= conformance.tolerance) return
  throw new DeviceFault(
    'SelfTestDrift',
    `Self-test of the engine ${name}: the drawing differs from the golden drawing of its export by ${(100 * off).toFixed(1)} %`,
  )
}
