import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type Database, rowType, sql } from '../api/shared/database/database.ts'
import { migrate } from '../api/shared/database/migrate.ts'
import { Type } from '../api/shared/schema.ts'
import { grantRights } from '../scripts/commands/database-rights.ts'
import { ROOT } from '../scripts/stack/session.ts'
import { formOf, readSmallPerson } from './support/drape.ts'
import { createEmptyDatabase } from './support/postgres.ts'
import { startProgram, type TestProgram } from './support/process.ts'
import { asProcess } from './support/process-roles.ts'
import { useQuickEngine } from './support/quick-engine.ts'
import { createTestRedis } from './support/redis.ts'
import { requestService } from './support/request-service.ts'
import { TEST_SECRETS, TEST_SECRETS_KEY } from './support/secrets.ts'
import { until } from './support/until.ts'

/**
 * The code that the current code replaces. No release is published yet: this is the commit before the newest 8 migrations. After a
 * release, it is the tag of the release.
 */
const EARLIER = '91e45be7185c6dfedc03bf301c88f394acb28bc5'
const run = promisify(execFile)
const hasHistory = await run('git', ['cat-file', '-e', `${EARLIER}^{commit}`], { cwd: ROOT }).then(
  () => true,
  () => false,
)

const RELEASES = ['earlier', 'current'] as const
type Release = (typeof RELEASES)[number]
/** Try-ons that callers wait for at any time, in each phase until both sides have worked together. */
const CALLERS = 2
const CREDITS = 1000

interface Job {
  readonly id: string
  readonly acceptedBy: Release
  readonly schema: Release
}

describe.skipIf(!hasHistory)('an upgrade under load, and a rollback', () => {
  const folders: Record<Release, string> = { earlier: '', current: ROOT }
  const apis: Partial<Record<Release, TestProgram>> = {}
  const workers: Partial<Record<Release, TestProgram>> = {}
  /** The release of a worker, by its process ID. */
  const releaseOf = new Map<string, Release>()
  const jobs: Job[] = []
  let empty: Awaited<ReturnType<typeof createEmptyDatabase>>
  let database: Database
  let env: Record<string, string>
  let apiKey: string
  let person: Buffer
  let schema: Release = 'earlier'
  let isLoaded = true
  let callers: Promise<unknown>

  beforeAll(async () => {
    folders.earlier = await extract(EARLIER)
    person = await readSmallPerson()
    empty = await createEmptyDatabase()
    env = {
      DATABASE_URL: empty.url,
      REDIS_URL: await createTestRedis(),
      STORAGE_URL: `file:${(await requestService('folder', null)).path}`,
      SECRETS_KEY: TEST_SECRETS_KEY,
    }
    const drape = async (...args: string[]) => {
      const options = { cwd: folders.earlier, env: { ...process.env, ...env } }
      return (await run(process.execPath, ['scripts/drape.ts', ...args], options)).stdout
    }
    await drape('migrate')
    const account = ['--name', 'Shop', '--credits', String(CREDITS), '--writes-per-minute', '100000']
    apiKey = JSON.parse(await drape('account', 'create', ...account, '--reads-per-minute', '100000', '--json')).apiKey
    database = createDatabase(empty.url, { poolSize: 2, secrets: TEST_SECRETS })
    await useQuickEngine(database)
  })
  afterAll(async () => {
    isLoaded = false
    await callers
    const programs = [...Object.values(apis), ...Object.values(workers)]
    await Promise.all(programs.map((program) => program.end()))
    await database?.end()
    await empty?.drop()
  })

  const start = async (release: Release, ...names: ('api' | 'worker')[]) => {
    const options = { folder: folders[release] }
    if (names.includes('api')) apis[release] = await startProgram('api', env, options)
    if (!names.includes('worker')) return
    const worker = await startProgram('worker', { ...env, ENGINES: 'mock' }, options)
    releaseOf.set(String(worker.pid), release)
    workers[release] = worker
  }
  const stop = async (release: Release, name: 'api' | 'worker') => {
    const running = name === 'api' ? apis : workers
    const program = running[release]
    delete running[release]
    expect(await program?.end('SIGTERM'), `${release} ${name}\n${program?.output()}`).toBe(0)
  }
  /** A caller that sends one try-on after another to the running APIs in turn, and waits for each. */
  const call = async (caller: number) => {
    for (let n = caller; isLoaded; n++) {
      const running = RELEASES.filter((release) => apis[release])
      const acceptedBy = running[n % running.length]
      const id = await tryOn(acceptedBy)
      if (id === null) continue
      jobs.push({ id, acceptedBy, schema })
      await until(async () => (await statusOf(id)) === 'COMPLETED')
    }
  }
  /** Null while the API stops. */
  const tryOn = async (release: Release): Promise<string | null> => {
    const image = { source: { fileKey: 'me' } }
    const data = { products: [{ images: [image] }], person: { image } }
    const url = apis[release]?.url
    const response = await fetch(`${url}/tryon/v1/try-on`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: formOf(data, { me: person }),
    }).catch(() => null)
    if (response === null) {
      expect(apis[release]?.url).not.toBe(url)
      return null
    }
    const answer = (await response.json()) as { generationId: string }
    expect(answer, JSON.stringify(answer)).toHaveProperty('generationId')
    return answer.generationId
  }
  const Row = rowType(Type.Object({ status: Type.String(), worker: Type.Union([Type.String(), Type.Null()]) }))
  const read = (id: string) => database.one(sql.type(Row)`select status, worker from generations where id = ${id}`)
  const statusOf = async (id: string) => {
    const { status } = await read(id)
    expect(status).not.toBe('FAILED')
    return status
  }
  /** Waits until running APIs and workers have finished try-ons together under the current schema. */
  const untilAllMeet = () =>
    until(async () => {
      const met = await countPairs()
      const pairs = RELEASES.flatMap((api) => RELEASES.map((worker) => [api, worker] as const))
      return pairs.every(([api, worker]) => !apis[api] || !workers[worker] || met.has(`${api} ${worker} ${schema}`))
    })
  /** Finished try-ons by accepting API, worker and schema. */
  const countPairs = async () => {
    const counts = new Map<string, number>()
    for (const { id, acceptedBy, schema } of jobs) {
      const { status, worker } = await read(id)
      if (status !== 'COMPLETED') continue
      const ranOn = releaseOf.get(worker?.split('-').at(-1) ?? '')
      const pair = `${acceptedBy} ${ranOn} ${schema}`
      counts.set(pair, (counts.get(pair) ?? 0) + 1)
    }
    return counts
  }

  it('lose no try-on, whichever API and worker meet', async () => {
    await start('earlier', 'api', 'worker')
    callers = Promise.all(Array.from({ length: CALLERS }, (_, n) => call(n)))
    callers.catch(() => {})
    const whileCallersSucceed = <T>(work: Promise<T>) => Promise.race([work, callers.then(() => work)])
    await whileCallersSucceed(untilAllMeet())

    // The upgrade: migration, APIs, workers.
    expect((await migrate(empty.url)).length).toBeGreaterThan(0)
    for (const name of ['api', 'worker'] as const)
      await grantRights(empty.url, { process: name, role: new URL(asProcess(empty.url, name)).username })
    schema = 'current'
    await whileCallersSucceed(untilAllMeet())
    await start('current', 'api')
    await whileCallersSucceed(untilAllMeet())
    await stop('earlier', 'api')
    await start('current', 'worker')
    await whileCallersSucceed(untilAllMeet())
    await stop('earlier', 'worker')
    await whileCallersSucceed(sleep(500))

    // The rollback, which does not undo the migration.
    await start('earlier', 'api')
    await whileCallersSucceed(untilAllMeet())
    await stop('current', 'api')
    await start('earlier', 'worker')
    await stop('current', 'worker')
    await whileCallersSucceed(sleep(500))
    isLoaded = false
    await callers

    const counts = await countPairs()
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(jobs.length)
    const balance = await database.oneFirst(sql.unsafe`select balance from accounts`)
    expect(balance).toBe(CREDITS - jobs.length)
    console.log(`Try-ons by API, worker and schema: ${[...counts].map(([pair, n]) => `${pair} ${n}`).join(', ')}`)
    const page = await readFile(join(ROOT, 'charts/drape/docs/upgrade.md'), 'utf8')
    expect(page).toContain(presentPairs(counts))
  })
})

/** The table of upgrade.md: what has finished try-ons together. */
function presentPairs(counts: ReadonlyMap<string, number>): string {
  const rows = RELEASES.flatMap((schema) =>
    RELEASES.flatMap((api) =>
      RELEASES.filter((worker) => counts.has(`${api} ${worker} ${schema}`)).map(
        (worker) => `| ${schema} | ${api} | ${worker} |`,
      ),
    ),
  )
  return ['| Schema | API | Worker |', '|---|---|---|', ...rows, ''].join('\n')
}

/** A folder with the code of a commit, and the packages of this clone. */
async function extract(commit: string): Promise<string> {
  const { path } = await requestService('folder', null)
  const folder = join(path, 'earlier')
  await mkdir(folder)
  const archive = join(path, 'earlier.tar')
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT })
  await run('tar', ['-xf', archive, '-C', folder])
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
