import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { DeviceFault } from '../../../worker/inference/device-fault.ts'
import type { ReportedFault } from '../../../worker/inference/device-health.ts'
import { forkInference } from '../../../worker/inference/fork.ts'
import { createInferenceHost, type InferenceHost, type InferenceHostOptions } from '../../../worker/inference/host.ts'
import { createInferencePool } from '../../../worker/inference/pool.ts'
import { until } from '../../support/until.ts'

describe('the host of an inference process', () => {
  const undo: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0)) await step()
  })

  const log = createLog({ process: 'worker', level: 'silent' })
  const program = new URL('../../support/inference-program.ts', import.meta.url)
  function start(
    options: Partial<Pick<InferenceHostOptions, 'workSeconds' | 'startSeconds' | 'first' | 'env' | 'hasDevice'>> = {},
  ): {
    host: InferenceHost
    countRestarts: () => number
    faults: ReportedFault[]
  } {
    let restarts = 0
    const faults: ReportedFault[] = []
    const host = createInferenceHost({
      program,
      env: {},
      workSeconds: 30,
      ...options,
      log,
      onReady: () => {},
      onRestart: () => {
        restarts++
      },
      onDeviceFault: (fault) => faults.push(fault),
    })
    undo.push(() => host.stop())
    return { host, countRestarts: () => restarts, faults }
  }
  const give = (host: Pick<InferenceHost, 'run'>, order: string) =>
    host.run(
      'prepare',
      { photo: new TextEncoder().encode(order) },
      { signal: new AbortController().signal, onProgress: () => {}, subject: 'job-7' },
    )

  it('restarts the process when it dies, and fails the job as retryable', async () => {
    const { host } = start()
    await until(() => host.isReady())
    const before = await give(host, 'answer')
    await expect(give(host, 'die')).rejects.toMatchObject({ code: 'GENERATION_FAILED', retryable: true })
    await until(() => host.isReady())
    expect(await give(host, 'answer')).not.toEqual(before)
  })

  it('adopts a running process, and replaces an exited process', async () => {
    const first = forkInference({ program, env: {} })
    const { host, countRestarts } = start({ first })
    await until(() => host.isReady())
    expect(await give(host, 'answer')).toEqual({ pid: first.child.pid })
    expect(countRestarts()).toBe(0)
    const ended = forkInference({ program, env: {} })
    ended.child.kill('SIGKILL')
    await once(ended.child, 'exit')
    const other = start({ first: ended })
    await until(() => other.host.isReady())
    expect(other.countRestarts()).toBe(1)
  })

  it('lets a process warm up, without an accelerator only', async () => {
    const [plain, accelerated] = [start(), start({ hasDevice: true, workSeconds: 1 })]
    await until(() => plain.host.isReady() && accelerated.host.isReady())
    expect(await give(plain.host, 'heat')).toEqual({ pid: expect.any(Number) })
    await expect(give(accelerated.host, 'heat')).rejects.toThrow(DeviceFault)
  })

  it('passes no secret of its environment to the process', async () => {
    const secrets = [
      'DATABASE_URL',
      'REDIS_URL',
      'SIGNING_SECRET',
      'AWS_SECRET_ACCESS_KEY',
      'OTEL_EXPORTER_OTLP_HEADERS',
    ]
    const before = secrets.map((name) => process.env[name])
    for (const name of secrets) process.env[name] = `secret of ${name}`
    const { host } = start()
    secrets.forEach((name, i) => {
      if (before[i] === undefined) delete process.env[name]
      else process.env[name] = before[i]
    })
    await until(() => host.isReady())
    const { pid } = (await give(host, 'answer')) as unknown as { pid: number }
    const names = (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0').map((line) => line.split('=', 1)[0])
    expect(names).toContain('PATH')
    expect(names.filter((name) => secrets.includes(name))).toEqual([])
  })

  it('does not end a process that is busy with aborted work', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    undo.push(async () => void vi.useRealTimers())
    const { host, countRestarts } = start({ workSeconds: 60 })
    await until(() => host.isReady())
    const abort = new AbortController()
    const photo = new TextEncoder().encode('wait')
    const working = host.run('prepare', { photo }, { signal: abort.signal, onProgress: () => {} })
    abort.abort(new Error('cancelled'))
    vi.advanceTimersByTime(59_000)
    expect([host.isReady(), host.isBusy()]).toEqual([true, true])
    host.evict([])
    await working
    expect(await give(host, 'answer')).toEqual(await working)
    expect(countRestarts()).toBe(0)
  })

  it('kills a hanging process', async () => {
    const { host, countRestarts, faults } = start({ workSeconds: 1 })
    await until(() => host.isReady())
    await expect(give(host, 'hang')).rejects.toMatchObject({ retryable: true })
    expect(countRestarts()).toBe(1)
    expect(faults).toEqual([])
  })

  it('reports a hanging process as a fault of its device, and replaces the process', async () => {
    const begun = Date.now()
    const { host, countRestarts, faults } = start({ workSeconds: 1, hasDevice: true })
    await until(() => host.isReady())
    const message = 'The prepare did not end within 1 s.'
    const hung = give(host, 'hang')
    await expect(hung).rejects.toBeInstanceOf(DeviceFault)
    await expect(hung).rejects.toMatchObject({ reason: 'Hang', message })
    expect(faults).toEqual([{ reason: 'Hang', message, subject: 'job-7', startedAt: expect.any(Number) }])
    expect(faults[0].startedAt).toBeGreaterThanOrEqual(begun)
    expect(host.problem()).toBe(`The device failed: ${message}`)
    await until(() => host.isReady())
    expect(host.problem()).toBeNull()
    expect(countRestarts()).toBe(1)
  })

  it.for([true, false])('kills a process that does not become ready, with a device: %s', async (hasDevice) => {
    const { host, countRestarts, faults } = start({ startSeconds: 0.5, env: { SILENT: '1' }, hasDevice })
    await until(() => countRestarts() === 1)
    const message = 'The inference process was not ready after 0.5 s.'
    expect(host.problem()).toBe(message)
    expect(host.isReady()).toBe(false)
    const fault = { reason: 'Hang', message, subject: null, startedAt: expect.any(Number) }
    expect(faults).toEqual(hasDevice ? [fault] : [])
  })

  it('does not kill a process that waits for files, but one that hangs with them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    undo.push(async () => void vi.useRealTimers())
    const { host, countRestarts } = start({ startSeconds: 60, env: { WAITS: '1' } })
    await until(() => host.downloads().engines.length > 0)
    expect(host.downloads()).toEqual({ engines: ['large'], downloadSeconds: null })
    vi.advanceTimersByTime(3_600_000)
    host.evict([])
    await until(() => host.downloads().engines.length === 0)
    expect(host.downloads()).toEqual({ engines: [], downloadSeconds: 1.2 })
    expect([host.isReady(), host.problem(), countRestarts()]).toEqual([false, null, 0])
    vi.advanceTimersByTime(60_000)
    await until(() => countRestarts() === 1)
    expect(host.problem()).toBe('The inference process was not ready after 60 s.')
  })

  it('is not ready after three crashes in a row, until a process stays alive', async () => {
    const { host, countRestarts } = start()
    for (let death = 1; death <= 3; death++) {
      await until(() => host.isReady())
      await give(host, 'die').catch(() => {})
      await until(() => countRestarts() === death)
    }
    expect(host.isReady()).toBe(false)
    await until(() => host.isReady())
    expect(countRestarts()).toBe(3)
  })

  it('queues work after a crash for the next process', async () => {
    const { host } = start()
    const pool = createInferencePool([host])
    await until(() => host.isReady())
    const [dead, next] = await Promise.allSettled([give(pool, 'die'), give(pool, 'answer')])
    expect(dead.status).toBe('rejected')
    expect(next).toMatchObject({ status: 'fulfilled', value: { pid: expect.any(Number) } })
  })
})
