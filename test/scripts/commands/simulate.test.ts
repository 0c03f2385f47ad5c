import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outputOf } from '../../support/command-line.ts'
import { requestService } from '../../support/request-service.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const SAMPLE = join(ROOT, 'crds/samples/pool-small.yaml')

const simulate = async (...options: string[]) =>
  JSON.parse(await outputOf(['simulate', '--json', ...options], process.env))

describe('drape simulate', async () => {
  const folder = (await requestService('folder', null)).path

  it('simulates a recorded trace and reports decisions, wait times and cost', async () => {
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

  it('simulates a month, and more lines than a call takes arguments', async () => {
    const trace = join(folder, 'month.csv')
    const lines = Array.from({ length: 150_000 }, (_, k) => `${17 * k},1`)
    await writeFile(trace, `second,jobs\n${lines.join('\n')}\n2678398,1\n`)
    expect(await simulate('--policy', SAMPLE, '--trace', trace)).toMatchObject({ jobs: 150_001, mostWorkers: 1 })
  })

  it('generates the same trace from the same seed', async () => {
    const options = ['--policy', SAMPLE, '--jobs-per-minute', '30', '--minutes', '10', '--seed', '7']
    expect(await simulate(...options)).toEqual(await simulate(...options))
  })

  it('reports the invalid field of a policy', async () => {
    const policy = join(folder, 'policy.yaml')
    await writeFile(policy, 'kind: ScalingPolicy\nspec: { bounds: { max: 0 }, target: {} }\n')
    await expect(simulate('--policy', policy)).rejects.toThrow('spec.bounds.max')
  })

  it('uses cost and slots of the pool that refers to a policy in the same file', async () => {
    const policy = join(ROOT, 'crds/samples/pool-business-hours.yaml')
    const answer = await simulate('--policy', policy, '--jobs-per-minute', '30', '--minutes', '10')
    expect(answer.cost).toBeCloseTo(answer.workerHours * 0.9, 1)
  })

  it('reports invalid input in one sentence', async () => {
    const rejects = (text: string, ...options: string[]) =>
      expect(simulate('--policy', ...options), text).rejects.toThrow(text)
    const write = async (name: string, text: string) => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    }
    const hours = '{ name: a, timeZone: Mars, start: "01:00", end: "02:00", max: 1 }'
    const martian = `{ bounds: { max: 1 }, target: { backlogPerSlot: 1 }, schedules: [${hours}] }`
    const tooMuch = 'A trace has at most 2678400 seconds and 1000000 jobs'
    await Promise.all([
      rejects('broken.yaml is not valid YAML', await write('broken.yaml', 'a: [')),
      rejects('Unknown time zone Mars.', await write('mars.yaml', `kind: ScalingPolicy\nspec: ${martian}\n`)),
      rejects(tooMuch, SAMPLE, '--trace', await write('long.csv', '1000000000,1\n')),
      rejects(tooMuch, SAMPLE, '--trace', await write('full.csv', '0,1000000000\n')),
      rejects(tooMuch, SAMPLE, '--jobs-per-minute', '30000', '--minutes', '60'),
      rejects('--jobs-per-minute must be at most 30000', SAMPLE, '--jobs-per-minute', '1000000'),
    ])
  })
})
