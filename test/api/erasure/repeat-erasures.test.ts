import { mkdir, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createConsents } from '../../../api/consents/consents.store.ts'
import { createErasureLog } from '../../../api/erasure/erasure-log.ts'
import { Nullable, Type } from '../../../api/shared/contract/schema.ts'
import { createDatabase, type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { reserveFreePort } from '../../../scripts/stack/ports.ts'
import { APP_CONTEXT, appHeaders, eventOf } from '../../support/analytics-events.ts'
import { completeForShop } from '../../support/completed.ts'
import { readSample, startDrape } from '../../support/drape.ts'
import { copyTestDatabase } from '../../support/postgres.ts'
import { linesOf, spawnProcess, startProgram, type TestProcess } from '../../support/process.ts'
import { asProcess } from '../../support/process-roles.ts'
import { createDevelopmentShop } from '../../support/shop.ts'
import { createShopperCalls } from '../../support/shopper-calls.ts'
import { until } from '../../support/until.ts'

const Text = rowType(Type.Object({ text: Type.String() }))
const Traces = rowType(
  Type.Object({
    generations: Type.Integer(),
    images: Type.Integer(),
    consents: Type.Integer(),
    events: Type.Integer(),
  }),
)
const Left = rowType(Type.Object({ owner: Nullable(Type.String()), isDue: Type.Boolean() }))
const REPEATED = 'erasures repeated: the database was older than the erasure log'
const DAY_MS = 86_400_000

describe('the start of the API with a restored database', async () => {
  const undo: (() => Promise<unknown>)[] = []

  const person = await readSample('persons/down-half-teal.jpg')
  const drape = await startDrape()
  const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: '', signingSecret: '' })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })
  afterAll(async () => {
    storage.close()
    await drape.stop()
  })

  const upload = (externalUserId: string) => createShopperCalls(drape, person).upload(externalUserId)
  const tryOn = (imageId: string, externalUserId: string) =>
    createShopperCalls(drape, person).tryOn(imageId, externalUserId)
  /** The first calls may use connections that the copy has closed. */
  const erase = (externalUserId: string) =>
    until(async () => (await drape.call('DELETE', `/tryon/v1/customers/${externalUserId}`)).status === 204)
  /** A backup, which lacks later erasures. */
  const backUp = async () => {
    const copy = await copyTestDatabase(drape.env.DATABASE_URL)
    const database = createDatabase(copy.url, { poolSize: 1 })
    undo.push(
      () => copy.drop(),
      () => database.end(),
    )
    return { url: copy.url, database }
  }
  const start = async (url: string) => {
    const api = await startProgram('api', { ...drape.env, DATABASE_URL: url })
    undo.push(() => api.end())
    return api
  }
  const owners = (database: Database) =>
    database.anyFirst(sql.type(Text)`select external_user_id as text from images order by 1`)
  const repeatedBy = (process: TestProcess) => linesOf(process.output()).filter(({ msg }) => msg === REPEATED)
  const photoOf = (imageId: string) => `persons/${drape.accountId}/${imageId}.jpg`

  it('repeats the erasures since the backup, once and before it serves requests', async () => {
    const [gone] = [await upload('gone'), await upload('kept')]
    const generationId = await tryOn(gone, 'gone')
    const bytes = await storage.get(photoOf(gone))
    const { url, database } = await backUp()
    await erase('gone')
    await storage.put(photoOf(gone), bytes ?? Buffer.from(''), { contentType: 'image/jpeg' })
    expect(await owners(database)).toEqual(['gone', 'kept'])

    const api = await start(url)
    expect(await owners(database)).toEqual(['kept'])
    expect(await storage.exists(photoOf(gone))).toBe(false)
    const answer = await fetch(`${api.url}/tryon/v1/generations/${generationId}`, {
      headers: { 'x-api-key': drape.apiKey },
    })
    expect(await answer.json()).toMatchObject({ status: 'FAILED' })
    expect(repeatedBy(api)).toMatchObject([{ entries: 1, erased: 1 }])
    const { output } = api
    expect(output().indexOf(REPEATED)).toBeLessThan(output().indexOf('"serving"'))
    expect(repeatedBy(await start(url))).toEqual([])
    // The database in which the erasures happened knows them.
    expect(repeatedBy(await start(drape.env.DATABASE_URL))).toEqual([])
  })

  it('repeats the erasure of what shops and apps stored under an ID', async () => {
    const shop = await createDevelopmentShop(drape)
    const shopper = { shopId: shop.id, shopper: 'customer:77', image: person }
    await completeForShop(drape, shopper)
    await createConsents(drape.database).give(
      { accountId: drape.accountId, shopId: shop.id, shopperId: `${shop.id}:customer:77` },
      { version: '1', language: 'en' },
    )
    const app = { ...(await appHeaders(drape)), 'x-service-customer-id': '78' }
    const body = { events: [eventOf('restored')], context: APP_CONTEXT }
    await until(
      async () => (await drape.call('POST', '/storefront/v1/events', { key: null, headers: app, body })).body.success,
    )
    const { url, database } = await backUp()
    for (const id of ['77', '78']) await erase(id)
    const left = () =>
      database.one(sql.type(Traces)`
        select (select count(*) from generations where external_user_id like '%:77') as generations,
          (select count(*) from images where external_user_id like '%:77') as images,
          (select count(*) from consents where withdrawn_at is null) as consents,
          (select count(*) from event_batches where customer_id = '78') as events`)
    expect(await left()).toEqual({ generations: 1, images: 1, consents: 1, events: 1 })
    await start(url)
    expect(await left()).toEqual({ generations: 0, images: 0, consents: 0, events: 0 })
    // The database in which the erasures happened knows all entries.
    expect(repeatedBy(await start(drape.env.DATABASE_URL))).toEqual([])
  })

  it('repeats erasures once when two processes start concurrently', async () => {
    await upload('raced')
    const { url, database } = await backUp()
    await erase('raced')
    const both = await Promise.all([start(url), start(url)])
    expect(await owners(database)).toEqual(['kept'])
    expect(both.flatMap(repeatedBy)).toMatchObject([{ entries: 1, erased: 1 }])
  })

  it('finishes the erasure during which the backup was made', async () => {
    await upload('halfway')
    const folder = join(new URL(drape.env.STORAGE_URL).pathname, 'persons')
    await rename(folder, `${folder}-away`)
    await writeFile(folder, '')
    expect((await drape.call('DELETE', '/tryon/v1/customers/halfway')).status).toBe(503)
    const { url, database } = await backUp()
    await rm(folder)
    await rename(`${folder}-away`, folder)
    const left = () =>
      database.anyFirst(sql.type(Text)`select key as text from objects where external_user_id = 'halfway'`)
    expect(await left()).toHaveLength(1)
    const [api] = await Promise.all([start(url)])
    expect(await left()).toEqual([])
    expect(repeatedBy(api)).toMatchObject([{ erased: 1 }])
    await erase('halfway')
  })

  it('answers 503 while the storage is unavailable, serves nothing, and logs the reason', async () => {
    await upload('hidden')
    const { url, database } = await backUp()
    await erase('hidden')
    const folder = join(new URL(drape.env.STORAGE_URL).pathname, 'erasures')
    await rename(folder, `${folder}-away`)
    await writeFile(folder, '')
    const [port, probe] = await Promise.all([reserveFreePort(), reserveFreePort()])
    await Promise.all([port.release(), probe.release()])
    const api = await spawnProcess({
      command: process.execPath,
      args: ['api/main.ts'],
      cwd: process.cwd(),
      env: {
        ...process.env,
        ...drape.env,
        NODE_ENV: 'development',
        DATABASE_URL: asProcess(url, 'api'),
        PORT: String(port.port),
        PROBE_PORT: String(probe.port),
      },
    })
    undo.push(() => api.end())
    const readiness = () =>
      fetch(`http://127.0.0.1:${probe.port}/readyz`).then(
        (response) => response.text(),
        () => '',
      )
    await until(async () => (await readiness()).includes('"erasures":'))
    await sleep(1500)
    expect(await owners(database)).toEqual(['hidden', 'kept'])
    const refused = await fetch(`http://127.0.0.1:${port.port}/tryon/v1/account`, {
      headers: { 'x-api-key': drape.apiKey },
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 })
    expect(linesOf(api.output()).filter(({ msg }) => msg === 'erasure log pass failed').length).toBeGreaterThan(0)
    // In one step: without the folder the log would be empty.
    await symlink(`${folder}-away`, `${folder}-link`)
    await rename(`${folder}-link`, folder)
    await until(async () => (await readiness()) === '{"status":"ready"}')
    expect(await owners(database)).toEqual(['kept'])
    expect((await fetch(`http://127.0.0.1:${port.port}/healthz`)).status).toBe(200)
    await rm(folder)
    await rename(`${folder}-away`, folder)
  })

  it('does not wait for a storage that cannot delete: the object loses its owner and stays due', async () => {
    const photo = photoOf(await upload('stuck'))
    const { url, database } = await backUp()
    await erase('stuck')
    const path = join(new URL(drape.env.STORAGE_URL).pathname, photo)
    await mkdir(path)
    undo.push(() => rmdir(path))
    const api = await start(url)
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200)
    expect(repeatedBy(api)).toMatchObject([{ erased: 1 }])
    const left = await database.one(sql.type(Left)`
      select external_user_id as owner, expires_at <= now() as "isDue" from objects where key = ${photo}`)
    expect(left).toEqual({ owner: null, isDue: true })
  })

  it('stops while it waits for the storage', async () => {
    const env = { ...drape.env, STORAGE_URL: 'file:/dev/null/nothing', NODE_ENV: 'development' }
    const [port, probe] = await Promise.all([reserveFreePort(), reserveFreePort()])
    await Promise.all([port.release(), probe.release()])
    const ports = { PORT: String(port.port), PROBE_PORT: String(probe.port) }
    const api = await spawnProcess({
      command: process.execPath,
      args: ['api/main.ts'],
      cwd: process.cwd(),
      env: { ...process.env, ...env, ...ports },
    })
    await until(async () => api.output().includes('erasure log pass failed'))
    expect(await api.end('SIGTERM')).toBe(0)
  })

  it('finds entries of clocks that are days behind or years ahead, and reports invalid entries', async () => {
    const log = createErasureLog(storage)
    const hash = (text: string) =>
      drape.database.oneFirst(sql.type(Text)`select encode(customer_hash(${drape.accountId}, ${text}), 'hex') as text`)
    await upload('behind')
    const { url, database } = await backUp()
    await drape.database.query(sql.unsafe`delete from images where external_user_id = 'behind'`)
    await log.record({ customer: await hash('nobody'), erasedAt: new Date('9999-12-31T23:59:59.999Z') })
    const name = `2026-13-45T99-00-00-000Z-${'a'.repeat(64)}.bin`
    const refused = [
      `erasures/2026-13-45/${name}`,
      `erasures/2026-01-01/2026-01-02T00-00-00-000Z-${'b'.repeat(64)}.bin`,
      'erasures/nonsense.bin',
    ]
    for (const key of refused) await storage.put(key, Buffer.alloc(9), { contentType: 'application/octet-stream' })
    const first = await start(url)
    expect(repeatedBy(first)).toMatchObject([{ erased: 0 }])
    const named = linesOf(first.output()).find(({ msg }) => msg === 'objects of the erasure log are not entries')
    // The folder of January is older than the entries that are still compared.
    expect(named?.keys).toEqual([refused[0], refused[2]])

    // As if the person had been there and was erased by a clock that is 3 days behind.
    const erasedAt = new Date(Date.now() - 3 * DAY_MS)
    await database.query(sql.unsafe`
      update images set created_at = ${new Date(erasedAt.getTime() - 1000).toISOString()} where external_user_id = 'behind'`)
    const key = await log.record({ customer: await hash('behind'), erasedAt })
    const second = await start(url)
    expect(repeatedBy(second)).toMatchObject([{ entries: 1, erased: 1 }])
    expect(await owners(database)).toEqual(['kept'])
    await storage.delete([...refused, key])
  })

  it('reports a lost log if the storage has none of the entries that the database knows', async () => {
    const folder = join(new URL(drape.env.STORAGE_URL).pathname, 'erasures')
    await rename(folder, `${folder}-away`)
    const api = await start(drape.env.DATABASE_URL)
    expect(api.output()).toContain('the erasure log lacks the entries that the database knows')
    await rename(`${folder}-away`, folder)
  })
})
