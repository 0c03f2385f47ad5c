import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from 'redis'
import { afterAll, describe, expect, it } from 'vitest'
import { acceptGenerations } from '../../../api/generations/acceptance.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createWebhooks } from '../../../api/webhooks/webhooks.store.ts'
import { compareClocks } from '../../../scripts/commands/doctor/clock.ts'
import type { Finding } from '../../../scripts/commands/doctor/finding.ts'
import { examineModels } from '../../../scripts/commands/doctor/models.ts'
import {
  examineAccelerator,
  examineNode,
  examineSigningKeys,
  OLDEST_NODE,
} from '../../../scripts/commands/doctor/process.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { startDrape } from '../../support/drape.ts'
import { asProcess } from '../../support/process-roles.ts'
import { startOwnRedis } from '../../support/redis.ts'
import { requestService } from '../../support/request-service.ts'

const find = (findings: readonly Finding[], check: string) => {
  const found = findings.filter((finding) => finding.check === check)
  expect(found, check).toHaveLength(1)
  return found[0]
}
const isProblem = (found: RegExp | string, cure: string) => ({
  state: 'problem',
  found: typeof found === 'string' ? found : expect.stringMatching(found),
  cure: expect.stringContaining(cure),
})

describe('drape doctor', async () => {
  const drape = await startDrape()
  afterAll(() => drape?.stop())

  const examine = async (variables: Record<string, string> = {}) => {
    const env = {
      ...drape.env,
      PORT: new URL(drape.api.url).port,
      PROBE_PORT: new URL(drape.api.probeUrl).port,
      SIGNING_SECRET: 'a key that signs',
      ...variables,
    }
    const result = await createCommandLine(
      variables.DATABASE_URL ?? asProcess(drape.env.DATABASE_URL, 'api'),
      env,
    ).drape('doctor')
    return { code: result.code, ...(JSON.parse(result.output) as { problems: number; findings: Finding[] }) }
  }

  it('reports no problem for a healthy installation', async () => {
    const { code, problems, findings } = await examine()
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([])
    expect({ code, problems }).toEqual({ code: 0, problems: 0 })
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining([
        ...['node', 'postgres', 'postgres clock', 'migrations', 'stored secrets', 'redis', 'redis maxmemory-policy'],
        ...['queue', 'storage', 'storage clock', 'signing key', 'encryption key', 'gpu', 'models'],
      ]),
    )
    expect(find(findings, `port ${new URL(drape.api.url).port}`)).toMatchObject({
      found: 'Drape serves /tryon/v1/openapi.json',
    })
    expect(find(findings, 'models').found).toContain('files have the SHA-256 of the manifest')
  })

  it('reports unreachable services and missing settings, each with a remedy', async () => {
    const { code, problems, findings } = await examine({
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
      REDIS_URL: 'redis://127.0.0.1:1',
      STORAGE_URL: 'file:/dev/null/objects',
      SIGNING_SECRET: '',
      SECRETS_KEY: 'not a key',
    })
    expect(code).toBe(1)
    expect(problems).toBe(findings.filter(({ state }) => state === 'problem').length)
    expect(find(findings, 'postgres')).toMatchObject(isProblem(/ECONNREFUSED/, 'Check DATABASE_URL'))
    expect(find(findings, 'redis')).toMatchObject(isProblem(/does not respond/, 'Check REDIS_URL'))
    expect(find(findings, 'storage')).toMatchObject(isProblem(/./, 'Check STORAGE_URL'))
    expect(find(findings, 'signing key')).toMatchObject(isProblem('SIGNING_SECRET is not set', 'openssl rand'))
    expect(find(findings, 'encryption key')).toMatchObject(isProblem(/SECRETS_KEY must be keys/, 'openssl rand'))
    for (const { found, cure = '' } of findings) expect(`${found}${cure}`).not.toContain('\n')
  })

  it('names the address that cannot be parsed', async () => {
    const { code, findings } = await examine({ DATABASE_URL: 'postgres://h/d?sslmod=x', REDIS_URL: 'redis://h?tls=1' })
    expect(code).toBe(1)
    expect(find(findings, 'postgres')).toMatchObject(isProblem(/DATABASE_URL has .* sslmod;/, 'Check DATABASE_URL'))
    expect(find(findings, 'redis')).toMatchObject(isProblem(/REDIS_URL has .* tls;/, 'Check REDIS_URL'))
  })

  it('needs no permission to write in Redis', async () => {
    const redis = await startOwnRedis()
    const client = await createClient({ url: redis.url }).connect()
    try {
      // Entries of crashed workers, which a reader must leave.
      for (const key of ['drape:pool-workers', 'drape:workers:try-on'])
        await client.zAdd(key, { value: '{}', score: 1 })
      await client.aclSetUser('reader', ['on', '>reads', '~*', '&*', '+@all', '-@write'])
      const url = new URL(redis.url)
      Object.assign(url, { username: 'reader', password: 'reads' })
      const { findings } = await examine({ REDIS_URL: url.href })
      expect(findings.filter(({ state }) => state === 'problem')).toEqual([])
      expect(find(findings, 'queue')).toMatchObject({ state: 'ok', found: '0 workers, 0 try-ons wait, 0 run' })
      expect(find(findings, 'redis user')).toMatchObject({ state: 'ok', found: 'reader' })
      const refused = await createClient({ url: url.href }).connect()
      await expect(refused.set('key', 'value')).rejects.toThrow(/NOPERM/)
      refused.destroy()
    } finally {
      client.destroy()
      await redis.kill()
    }
  })

  it('reports reachable services with wrong settings', async () => {
    // The policy is that of the whole server, which other tests share.
    const redis = await startOwnRedis()
    const client = await createClient({ url: redis.url }).connect()
    const sick = { reason: 'DeviceError', message: 'CUDA failure 700', since: 1 }
    const gpu = { provider: 'cuda', engines: ['warp', 'fashn-vton'] }
    const report = { state: 'taking', fence: null, jobs: 0, slots: 1, idleSince: 0 }
    for (const worker of [
      { host: 'gpu-1', ...gpu },
      { host: 'gpu-2', ...gpu, sick },
      { host: 'cpu-1', provider: 'cpu', engines: ['mock'] },
    ]) {
      await client.set(`drape:pool-worker:${worker.host}`, JSON.stringify({ ...report, ...worker }))
      await client.zAdd('drape:pool-workers', { value: worker.host, score: Date.now() })
    }
    const other = createServer((_, answer) => answer.writeHead(404).end()).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { accountId, database } = drape
    const endpoint = {
      accountId,
      url: 'https://a.example',
      eventTypes: ['credits.low' as const],
      secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    }
    await createWebhooks(database).insert(endpoint)
    expect(await acceptGenerations(database, [callOf(await createCaller(database, 1))])).toEqual([true])
    await database.query(sql.unsafe`delete from migrations where name = '0001-schema.sql'`)
    await client.configSet('maxmemory-policy', 'allkeys-lru')
    try {
      const { port } = other.address() as AddressInfo
      const { findings } = await examine({
        PORT: String(port),
        REDIS_URL: redis.url,
        SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      })
      expect(find(findings, `port ${port}`)).toMatchObject(isProblem(/^in use/, 'set PORT'))
      expect(find(findings, 'migrations')).toMatchObject(isProblem(/lacks 0001-schema.sql/, 'drape migrate'))
      expect(find(findings, 'stored secrets')).toMatchObject(isProblem(/./, 'Set SECRETS_KEY to the key'))
      expect(find(findings, 'redis maxmemory-policy')).toMatchObject(isProblem(/^allkeys-lru/, 'noeviction'))
      expect(find(findings, 'workers cuda fashn-vton warp')).toMatchObject({ state: 'ok', found: '1 of 2 healthy' })
      expect(find(findings, 'workers cpu mock')).toMatchObject({ state: 'ok', found: '1 of 1 healthy' })
      expect(findings.filter(({ check }) => check.startsWith('worker '))).toMatchObject([
        { check: 'worker gpu-2', ...isProblem('takes no jobs: DeviceError: CUDA failure 700', 'kubectl describe wp') },
      ])
      expect(find(findings, 'queue mock')).toMatchObject(isProblem(/^1 try-ons wait for \d+ s/, 'Start a worker'))
    } finally {
      client.destroy()
      await redis.kill()
      other.close()
    }
  })
})

describe('the checks of drape doctor', () => {
  it('compares clocks, allowing for the duration of the request', () => {
    const clock = (theirs: number) => compareClocks('clock', { theirs, before: 100_000, after: 100_400 })
    expect(clock(100_200)).toEqual({ check: 'clock', state: 'ok', found: 'the same time' })
    expect(clock(96_000)).toEqual({ check: 'clock', state: 'ok', found: 'behind by 4.0 s' })
    expect(clock(90_000)).toMatchObject(isProblem('behind by 10.0 s', 'over NTP'))
    expect(clock(110_400)).toMatchObject(isProblem('ahead by 10.0 s', 'over NTP'))
  })

  it('requires the Node version of package.json', async () => {
    const { engines } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    expect(engines.node).toBe(`>=${OLDEST_NODE.join('.')}`)
    expect(examineNode('24.6.9')).toMatchObject(isProblem('24.6.9', 'Install Node 24.7'))
    expect(examineNode('25.0.0').state).toBe('ok')
  })

  it('checks each signing key', async () => {
    const PROVENANCE_KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const findings = await examineSigningKeys({ RECEIPT_KEY: 'not a key', PROVENANCE_KEY })
    expect(find(findings, 'receipt key')).toMatchObject(
      isProblem(/RECEIPT_KEY must be an unencrypted private key/, 'Check RECEIPT_KEY'),
    )
    expect(find(findings, 'provenance key').state).toBe('ok')
    expect(await examineSigningKeys({})).toEqual([])
  })

  it('distinguishes a missing driver, a GPU not passed to the container, and a usable GPU', async () => {
    const { path: root } = await requestService('folder', null)
    await mkdir(join(root, 'dev'))
    const env = { EXECUTION_PROVIDER: 'cuda' }
    expect(examineAccelerator({ env: {}, root }).state).toBe('skipped')
    expect(examineAccelerator({ env, root })).toMatchObject(isProblem(/driver not loaded/, 'Install the NVIDIA driver'))
    await mkdir(join(root, 'proc/driver/nvidia'), { recursive: true })
    const version = 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n'
    await writeFile(join(root, 'proc/driver/nvidia/version'), version)
    expect(examineAccelerator({ env, root })).toMatchObject(isProblem(/driver 570.86.15/, 'runtimeClassName'))
    await writeFile(join(root, 'dev/nvidia0'), '')
    expect(examineAccelerator({ env, root })).toMatchObject({ state: 'ok', found: '1 visible, driver 570.86.15' })
  })

  it('reports a missing model file', async () => {
    const { path } = await requestService('folder', null)
    const [found] = await examineModels({ ...process.env, MODEL_DIR: path })
    expect(found).toMatchObject(isProblem(/manifest\.json/, 'git checkout worker/models'))
  })
})
