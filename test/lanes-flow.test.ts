import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Type } from '../api/shared/contract/schema.ts'
import { rowType, sql } from '../api/shared/database/database.ts'
import { type Drape, shrink, startDrape } from './support/drape.ts'
import { copyTinyEngine } from './support/tiny-engine.ts'

const Row = rowType(Type.Object({ status: Type.String(), attempt: Type.Integer(), dispatched: Type.Boolean() }))
const WAITING = 10_000

describe('jobs of an engine that no live worker runs', () => {
  let drape: Drape
  let files: Record<string, Buffer>
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-lanes-'))
    await copyTinyEngine(join(folder, 'fashn-vton'))
    files = {
      me: await shrink('scripts/samples/persons/down-half-teal.jpg'),
      shirt: await shrink('scripts/samples/garments/tshirt-navy.jpg'),
    }
    // The engine of each order decides here, so none is replaced.
    drape = await startDrape({ defaultEngines: true, env: { ENGINES: 'warp,mock,fashn-vton,studio' } })
    await drape.startWorker({ ENGINES: 'mock' })
  })
  afterAll(async () => {
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const order = (output: object) =>
    drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { mode: 'fast', watermark: false, ...output },
      },
      files,
    )
  const look = (id: string) =>
    drape.database.one(sql.type(Row)`
      select status, attempt, coalesce((
        select dispatched_at is not null from outbox where generation_id = id), false) as dispatched
      from generations where id = ${id}`)

  it('wait without using attempts, are refunded at their deadline, and complete once a worker starts', async () => {
    const balance = await drape.balance()
    const late = await order({ engine: 'fashn-vton', deadlineSeconds: 5 })
    const waiting = await order({ engine: 'fashn-vton' })
    expect(await drape.finish(await order({ engine: 'mock' }))).toMatchObject({ status: 'COMPLETED' })
    expect(await drape.finish(late)).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_TIMEOUT' })
    expect(await look(late)).toMatchObject({ attempt: 1 })
    expect(await look(waiting)).toEqual({ status: 'PENDING', attempt: 1, dispatched: false })
    expect(await drape.balance()).toBe(balance - 1)
    const worker = await drape.startWorker({ ENGINES: 'fashn-vton', ENGINE_DIR: folder, QUEUES: 'try-on' })
    expect(await drape.finish(waiting)).toMatchObject({ status: 'COMPLETED', engine: { name: 'fashn-vton' } })
    expect(await look(waiting)).toMatchObject({ attempt: 1 })
    await worker.end()
  })

  it('do not delay jobs of other engines, however many wait', async () => {
    const first = await order({ engine: 'studio' })
    await insertCopies(first, WAITING)
    const ids = await Promise.all([1, 2, 3].map(() => order({ engine: 'mock' })))
    const results = await Promise.all(ids.map((id) => drape.finish(id)))
    expect(results.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED'])
    expect(await look(first)).toEqual({ status: 'PENDING', attempt: 1, dispatched: false })
    const { body } = await drape.call('GET', `/tryon/v1/generations/${await order({ engine: 'mock' })}`)
    expect(body.queuePosition ?? 1).toBeLessThan(5)
    await drape.database.query(sql.unsafe`delete from outbox where engine_name = 'studio'`)
  })

  async function insertCopies(id: string, count: number): Promise<void> {
    await drape.database.query(sql.unsafe`
      with made as (
        insert into generations (id, account_id, product_id, product_external_id, image_id, cost, engine, options, snapshot,
          deadline_at, images_expire_at)
        select 'gen_' || gen_random_uuid(), account_id, product_id, product_external_id, image_id, 0, engine, options,
          snapshot, deadline_at, images_expire_at
        from generations, generate_series(2, ${count}) where id = ${id}
        returning id, account_id)
      insert into outbox (generation_id, account_id, queue, engine_name, payload, available_at)
      select made.id, made.account_id, 'try-on', first.engine_name, first.payload || jsonb_build_object('generationId', made.id),
        first.available_at - interval '1 minute'
      from made, outbox as first where first.generation_id = ${id}`)
  }
})
