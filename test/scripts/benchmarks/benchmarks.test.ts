import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { startBench } from '../../../scripts/benchmarks/bench.ts'
import { type Benchmark, type Outcome, runBenchmarks } from '../../../scripts/benchmarks/benchmark.ts'
import { presentOutcome } from '../../../scripts/benchmarks/table.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { findPrograms } from '../../cluster/programs.ts'

const programs = await findPrograms(process.env, () => {})

/** `signal`: that of the test, which may run into its limit. */
async function runBench(args: readonly string[], signal: AbortSignal, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(join(ROOT, 'scripts/bench'), args, {
    signal,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { output, errors, code }
}

describe('scripts/bench', () => {
  it.skipIf('unavailable' in programs)(
    'measures every benchmark at its smallest size',
    { timeout: 1_200_000 },
    async ({ signal }) => {
      const { output, errors, code } = await runBench(['--smallest', '--json'], signal)
      const { results, failed }: Outcome = JSON.parse(output)
      expect(failed, errors).toEqual([])
      const ids = [...errors.matchAll(/^([A-Z]\d+b?): .+ …$/gm)].map(([, id]) => id)
      expect(results.map(({ id }) => id)).toEqual(ids)
      expect(ids.length).toBeGreaterThan(25)
      expect(code).toBe(0)
    },
  )

  it('names what could not be measured, and fails', async ({ signal }) => {
    const { output, code } = await runBench(['--smallest', 'P13'], signal, { DEFAULT_ENGINE: 'No engine' })
    expect(output).toMatch(/^Not measured: P13: api\/main\.ts ended; see \S+\n$/)
    expect(code).toBe(1)
  })

  it('stops what a failed benchmark has started before the next begins', async () => {
    const shared = await startBench({ root: ROOT, say: () => {} })
    let url = ''
    const answers = () =>
      fetch(url).then(
        () => 1,
        () => 0,
      )
    const basic = { what: 'answers of the API', unit: 'answers', better: 'lower', goal: 0 } as const
    const benchmarks: readonly Benchmark[] = [
      {
        ...basic,
        id: 'broken',
        measure: async (bench) => {
          url = (await bench.startStack()).api.url
          throw new Error(`${await answers()} answer before the failure`)
        },
      },
      { ...basic, id: 'next', measure: async () => ({ ours: await answers(), anchor: 1 }) },
      { ...basic, id: 'empty', measure: async () => ({ ours: 0, anchor: 0 }) },
    ]
    try {
      const outcome = await runBenchmarks(benchmarks, shared, { onStart: () => {}, onResult: () => {} })
      expect(outcome).toMatchObject({
        results: [{ id: 'next', ours: 0, reached: true }],
        failed: [
          { id: 'broken', reason: '1 answer before the failure' },
          { id: 'empty', reason: 'No figure: 0 against 0.' },
        ],
      })
    } finally {
      await shared.stop()
    }
  })

  it('ends with the figures that missed their goals', () => {
    const result = { what: 'one', unit: 's', ours: 1, anchor: 2, ratio: 0.5, goal: '≥ 0.6' }
    const results = [
      { ...result, id: 'P1', reached: false },
      { ...result, id: 'P2', reached: true },
    ]
    const [head, , , ...rest] = presentOutcome({ results, failed: [{ id: 'P3', reason: 'Nothing answers.' }] }).split(
      '\n',
    )
    expect(head).toMatch(/^id +ours/)
    expect(rest).toEqual(['Missed the goal: P1 (0.50, goal ≥ 0.6)', 'Not measured: P3: Nothing answers.'])
  })
})
