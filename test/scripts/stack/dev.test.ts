import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { inspectProcess } from '../../../scripts/stack/processes.ts'
import type { StackReport } from '../../../scripts/stack/stack.ts'
import { spawnProcess, type TestProcess } from '../../support/process.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

describe('scripts/dev', () => {
  it('prints one line when ready, restarts crashed processes, leaves no process behind, and starts again with replicas and retention', async () => {
    const dataFolder = join((await requestService('folder', null)).path, 'with a space')
    const { dev, report } = await startDev(dataFolder, { ENGINES: 'mock' })
    expect(report).toEqual({
      ready: true,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      probeUrls: { api: expect.any(String), worker: expect.any(String) },
      dashboardUrl: null,
      databaseUrl: expect.stringMatching(/^postgres:\/\//),
      redisUrl: expect.stringMatching(/^redis:\/\//),
      storageUrl: expect.stringMatching(/^file:\/\/\/.*with%20a%20space\/objects$/),
      pids: { api: [expect.any(Number)], worker: [expect.any(Number)] },
    })
    expect(await statusOf(report.probeUrls.api)).toBe(200)
    expect(await statusOf(report.probeUrls.worker ?? '')).toBe(200)
    const key = await createAccount(report)

    // A second stack in the same folder would spoil it.
    const second = await spawnDev(dataFolder)
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain(`A stack is already running in ${dataFolder} (process ${dev.pid})`)

    process.kill(report.pids.api[0], 'SIGKILL')
    await until(async () => (await statusOf(report.probeUrls.api)) !== 200)
    await until(async () => (await statusOf(report.probeUrls.api)) === 200)
    expect(await readAccount(report.url, key)).toMatchObject({ name: 'Dev', creditBalance: 3 })

    const first = await partPids(dataFolder)
    expect(first).toHaveLength(4)
    await dev.end('SIGKILL')
    await until(() => first.every((pid) => inspectProcess(pid) === undefined))

    const again = await startDev(dataFolder, {
      API_REPLICAS: '2',
      WORKER_REPLICAS: '0',
      RETENTION_FILE: 'crds/samples/retention.yaml',
    })
    const { databaseUrl, redisUrl } = report
    const pids = { api: [expect.any(Number), expect.any(Number)], worker: [] }
    expect(again.report).toMatchObject({ databaseUrl, redisUrl, probeUrls: { worker: null }, pids })
    expect(await readAccount(again.report.url, key)).toMatchObject({ creditBalance: 3 })
    const log = () => readFile(join(dataFolder, 'logs/retention.log'), 'utf8')
    await until(async () => (await log()).includes('"policy":"three-days"'))
    expect(await log()).toContain('"policies":["expired","three-days","careful","nightly"]')
    const last = await partPids(dataFolder)
    expect(await again.dev.end('SIGTERM')).toBe(0)
    expect(last.filter((pid) => inspectProcess(pid) !== undefined)).toEqual([])
  })

  it('exits with the error of a program that cannot start', async () => {
    const dataFolder = (await requestService('folder', null)).path
    const { url: redisUrl } = await requestService('redis', null)
    const dev = await spawnDev(dataFolder, { REDIS_URL: redisUrl, QUEUES: 'nonsense' })
    expect(await dev.ended).toBe(1)
    expect(dev.output()).toContain('QUEUES')
    expect(await partPids(dataFolder)).toEqual([])
  })

  it('rejects an unknown argument and starts nothing', async () => {
    const dataFolder = (await requestService('folder', null)).path
    const dev = await spawnDev(dataFolder, {}, ['--port', '1'])
    expect(await dev.ended).toBe(2)
    expect(dev.output()).toContain('--port')
    expect(await readdir(dataFolder)).toEqual([])
  })
})

/** Starts the command in another folder than the clone's, as a user may. */
async function spawnDev(
  dataFolder: string,
  env: NodeJS.ProcessEnv = {},
  args: readonly string[] = [],
): Promise<TestProcess> {
  return spawnProcess({
    command: join(ROOT, 'scripts/dev'),
    args: [...args],
    cwd: '/',
    env: { ...process.env, PORT: '', DATA_DIR: dataFolder, ...env },
  })
}

async function startDev(dataFolder: string, env?: NodeJS.ProcessEnv) {
  const dev = await spawnDev(dataFolder, env)
  const ended = dev.ended.then(() => {
    throw new Error(dev.output())
  })
  ended.catch(() => {})
  const line = await until(() => Promise.race([/^\{.*\}$/m.exec(dev.output())?.[0], ended]))
  return { dev, report: JSON.parse(line) as StackReport }
}

async function createAccount({ databaseUrl }: StackReport): Promise<string> {
  const command = ['scripts/drape.ts', 'account', 'create', '--name', 'Dev', '--credits', '3', '--json']
  const env = { ...process.env, DATABASE_URL: databaseUrl }
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env })
  return JSON.parse(stdout).apiKey
}

async function readAccount(url: string, key: string): Promise<unknown> {
  const answer = await fetch(`${url}/tryon/v1/account`, { headers: { 'x-api-key': key } })
  return answer.json()
}

function statusOf(probeUrl: string): Promise<number> {
  return fetch(`${probeUrl}/readyz`).then(
    ({ status }) => status,
    () => 0,
  )
}

/** Of all the processes that the stack says it would have to end. */
async function partPids(dataFolder: string): Promise<number[]> {
  const list = await readFile(join(dataFolder, 'run/processes.json'), 'utf8')
  return (JSON.parse(list) as { pid: number }[]).map(({ pid }) => pid)
}
