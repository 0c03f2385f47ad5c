import { DeviceFault } from '../../inference/device-fault.ts'
import type { Provider, Tensor } from '../../inference/session.ts'
import type { Conformance } from '../conformance.ts'
import type { EngineProof } from '../engine.ts'
import type { EngineFields, Mode } from './engine-fields.ts'

type SampledManifest = EngineFields & { sampling: { steps: Record<Mode, number> } }

/** Steps of a drawing: enough to run all graphs at their peak memory. */
const STEPS = 2

/** Max mean difference, on a scale of −1 to 1, of the same steps on the same machine. */
const MAX_REPEAT_DIFFERENCE = 0.004

/**
 * Draws twice in 2 steps, which also warms up the provider. `draw` uses the mode `fast` of the manifest that it receives. Both drawings
 * must be equal and match the golden drawing of the export within `conformance`; most operators must run on the requested provider.
 * @throws Error that names the failed condition, `DeviceFault` if the drawings differ, and errors of `draw`
 */
export async function proveEngine<Manifest extends SampledManifest>({
  manifest,
  provider,
  conformance,
  draw,
  countOperators,
}: {
  manifest: Manifest
  provider: Provider
  conformance: Conformance
  draw: (manifest: Manifest) => Promise<Tensor>
  countOperators: () => Promise<Readonly<Record<string, number>>>
}): Promise<EngineProof> {
  const { name, golden, sampling } = manifest
  const short = { ...manifest, sampling: { ...sampling, steps: { ...sampling.steps, fast: STEPS } } }
  const first = await time(() => draw(short))
  const again = await time(() => draw(short))
  const operators = await countOperators()
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
  if (there > all / 2) return
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
