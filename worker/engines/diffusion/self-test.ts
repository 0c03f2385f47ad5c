import { DeviceFault } from '../../inference/device-fault.ts'
import type { Provider, Tensor } from '../../inference/session.ts'
import type { Conformance } from '../conformance.ts'
import type { EngineProof } from '../engine.ts'
import type { EngineFields } from './manifest.ts'

/** Of −1 to 1 in the mean: the same steps on the same machine. */
const SAME = 0.004

/**
 * Draws twice: whatever the provider prepares is prepared, and what comes out has to be the same both times and what the export has
 * noted as golden, as `conformance` asks; most operators have to have run on the provider that was asked for.
 * @throws Error that says which of these does not hold, `DeviceFault` for another drawing, and what `draw` throws
 */
export async function proveEngine({
  manifest: { name, golden },
  provider,
  conformance,
  draw,
  countOperators,
}: {
  manifest: Pick<EngineFields, 'name' | 'golden'>
  provider: Provider
  conformance: Conformance
  draw: () => Promise<Tensor>
  countOperators: () => Promise<Readonly<Record<string, number>>>
}): Promise<EngineProof> {
  const first = await time(draw)
  const again = await time(draw)
  const operators = await countOperators()
  checkProvider(operators, { name, provider })
  const difference = meanDifference(first.drawn, again.drawn)
  if (difference > SAME)
    throw new DeviceFault(
      'SelfTestDrift',
      `Self-test of the engine ${name}: the same steps differ by ${(difference * 127.5).toFixed(2)} of 255`,
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
  throw new Error(`The engine ${name} was to run on ${provider}, but of its operators ran ${seen.join(' and ')}`)
}

function meanDifference(a: Tensor, b: Tensor): number {
  return a.data.reduce((sum, value, i) => sum + Math.abs(value - b.data[i]), 0) / a.data.length
}

/** Golden values lie evenly over what is drawn, from its first value on. */
function checkGolden(
  { data }: Tensor,
  { name, golden, conformance }: { name: string; golden?: readonly number[]; conformance: Conformance },
): void {
  if (!golden) {
    if (conformance.goldenRequired)
      throw new Error(`Self-test of the engine ${name}: its export has noted no golden drawing, and one is asked for`)
    return
  }
  const places = golden.map((_, i) => Math.floor((i * data.length) / golden.length))
  const squares = (values: readonly number[]) => values.reduce((sum, value) => sum + value ** 2, 0)
  const off = Math.sqrt(squares(golden.map((value, i) => value - data[places[i]])) / squares(golden))
  // Also false for what is no number.
  if (off <= conformance.tolerance) return
  throw new DeviceFault(
    'SelfTestDrift',
    `Self-test of the engine ${name}: what it draws differs from what its export has noted by ${(100 * off).toFixed(1)} %`,
  )
}
