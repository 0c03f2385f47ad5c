import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from 'redis'
import { afterAll, describe, expect, it } from 'vitest'
import type { Finding } from '../scripts/commands/doctor/finding.ts'
import { reserveFreePort } from '../scripts/stack/ports.ts'
import { encryptConnections, startOwnPostgres } from './support/postgres.ts'
import { spawnProcess } from './support/process.ts'
import { startOwnRedis } from './support/redis.ts'
import { requestService } from './support/request-service.ts'

/** The URLs that the installation guide of the chart documents, with their secrets. */
async function readDocumentedUrls() {
  const guide = await readFile(new URL('../charts/drape/docs/install.md', import.meta.url), 'utf8')
  const [, database = ''] = /literal=url='(postgres:[^']+)'/.exec(guide) ?? []
  const [, queue = ''] = /literal=url='(rediss:[^']+)'/.exec(guide) ?? []
  return { database, queue }
}

describe('the URLs that the installation guide documents', async () => {
  const folder = (await requestService('folder', null)).path
  const postgres = await startOwnPostgres({ folder })
  await encryptConnections(postgres.url, folder)
  const { port, release } = await reserveFreePort()
  const file = (name: string) => join(folder, name)
  await release()
  const redis = await startOwnRedis({
    args: [
      ...['--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', file('ca.pem')],
      ...['--tls-cert-file', file('server.pem'), '--tls-key-file', file('server.key')],
    ],
  })
  const client = await createClient({ url: redis.url }).connect()
  await client.aclSetUser('drape', ['on', '>a/b:@#?%', '~*', '&*', '+@all'])
  await client.configSet('requirepass', 'other')
  client.destroy()
  const documented = await readDocumentedUrls()
  const { host, password } = new URL(postgres.url)
  const login = `drape:${encodeURIComponent('a/b:@#?%')}`
  const urls = {
    DATABASE_URL: documented.database.replace('…', password).replace('postgres:5432', host),
    REDIS_URL: `${documented.queue.replace(':…', login).replace('redis:6379', `127.0.0.1:${port}`)}/3`,
  }
  afterAll(async () => {
    await Promise.all([postgres?.crash(), redis?.kill()])
  })

  const examine = async (env: NodeJS.ProcessEnv) => {
    const { PGSSLROOTCERT: _, ...others } = process.env
    const doctor = await spawnProcess({
      command: process.execPath,
      args: ['scripts/drape.ts', 'doctor', '--json'],
      cwd: process.cwd(),
      env: { ...others, NODE_ENV: 'development', STORAGE_URL: `file:${folder}/objects`, ...urls, ...env },
    })
    await doctor.ended
    const line =
      doctor
        .output()
        .split('\n')
        .find((text) => text.startsWith('{')) ?? '{}'
    const { findings = [] } = JSON.parse(line) as { findings?: Finding[] }
    const of = (check: string) => findings.find((finding) => finding.check === check)
    return { postgres: of('postgres'), connection: of('postgres connection'), redis: of('redis') }
  }

  it('connect with the trusted authorities', async () => {
    expect(urls.DATABASE_URL).toContain('sslmode=verify-full')
    expect(urls.REDIS_URL).toMatch(/^rediss:/)
    const found = await examine({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
    expect(found).toMatchObject({
      postgres: { state: 'ok' },
      connection: { state: 'ok', found: '127.0.0.1, TLSv1.3, certificate: authority and name checked' },
      redis: { state: 'ok' },
    })
  })

  it('refuse another authority, which the doctor names as the reason', async () => {
    const refused = {
      state: 'problem',
      found: expect.stringMatching(/certificate/),
      cure: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    }
    const found = await examine({ NODE_EXTRA_CA_CERTS: join(folder, 'other.pem') })
    expect(found).toMatchObject({ postgres: refused, redis: refused })
  })

  it('refuse another host name, which the doctor names as the reason', async () => {
    const refused = {
      state: 'problem',
      found: expect.stringContaining("does not match certificate's altnames"),
      cure: expect.stringContaining('a host name that the certificate has'),
    }
    const found = await examine({
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      DATABASE_URL: urls.DATABASE_URL.replace('127.0.0.1', 'localhost'),
      REDIS_URL: urls.REDIS_URL.replace('127.0.0.1', 'localhost'),
    })
    expect(found).toMatchObject({ postgres: refused, redis: refused })
  })
})
