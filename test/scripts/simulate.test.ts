import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../scripts/stack/commands.ts'
import { requestService } from '../support/request-service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SAMPLE = join(ROOT, 'crds/samples/pool-small.yaml')

const simulate = (...options: string[]) =>
  run(process.execPath, ['scripts/drape.ts', 'simulate', '--json', ...options], { cwd: ROOT }).then(JSON.parse)

describe('drape simulate', () => {
  let folder: string

  beforeAll(async () => {
    folder = (await requestService('folder', null)).path
  })

  it('plays a recorded trace against a pool and tells decisions, waits and cost', async () => {
    const trace = join(folder, 'trace.csv')
    await writeFile(trace, 'second,jobs\n0,1\n30,8\n')
    const answer = await simulate(
      '--policy',
      SAMPLE,
      '--trace',
      trace,
      '--seconds-per-job',
      '10',
      '--start-seconds',
      '20',
    )
    expect(answer).toMatchObject({ jobs: 9, mostWorkers: 4, cost: 0 })
    // One worker is there; the others come twenty seconds after the eight jobs.
    expect(answer.decisions[0]).toMatchObject({ second: 30, from: 1, to: 4 })
    expect(answer.waitSeconds).toEqual({ median: 20, p95: 30, longest: 30 })
  })

  it('makes the same trace from the same seed, and draws it', async () => {
    const plot = join(folder, 'plot.svg')
    const options = ['--policy', SAMPLE, '--jobs-per-minute', '30', '--minutes', '10', '--seed', '7', '--plot', plot]
    expect(await simulate(...options)).toEqual(await simulate(...options))
    const drawn = await readFile(plot, 'utf8')
    expect(drawn).toContain('waiting jobs')
    expect(drawn.match(/<polyline/g)).toHaveLength(4)
  })

  it('says what is wrong with a policy', async () => {
    const policy = join(folder, 'policy.yaml')
    await writeFile(policy, 'kind: ScalingPolicy\nspec: { bounds: { max: 0 }, target: {} }\n')
    await expect(simulate('--policy', policy)).rejects.toThrow('spec.bounds.max')
  })
})
