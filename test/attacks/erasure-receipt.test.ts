import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { createStorage } from '../../api/shared/storage/storage.ts'
import { verifyReceipt } from '../../api/trust/receipts/verify.ts'
import { startDrape } from '../support/drape.ts'
import { until } from '../support/until.ts'

const Open = rowType(Type.Object({ id: Type.String(), isErased: Type.Boolean(), objects: Type.Integer() }))

describe('receipts of erasures', async () => {
  const drape = await startDrape()
  const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: '', signingSecret: '' })
  afterAll(async () => {
    storage.close()
    await drape.stop()
  })

  /** Stored long ago. */
  const store = async (externalUserId: string, count: number, kind: 'person' | 'result') => {
    const folder = `${kind}s/${drape.accountId}`
    await drape.database.query(sql.unsafe`
      insert into objects (key, account_id, external_user_id, kind, bytes, created_at)
      select ${`${folder}/${externalUserId}_`} || lpad(n::text, 5, '0') || '.jpg', ${drape.accountId}, ${externalUserId}, ${kind}, 1000,
        now() - interval '1 hour'
      from generate_series(1, ${count}::int) as n`)
    for (const n of [1, count]) {
      const key = `${folder}/${externalUserId}_${String(n).padStart(5, '0')}.jpg`
      await storage.put(key, Buffer.alloc(1000), { contentType: 'image/jpeg' })
    }
  }
  const erase = (externalUserId: string) => drape.call('DELETE', `/tryon/v1/customers/${externalUserId}`)
  const issued = async (path: string) => {
    await until(async () => {
      await drape.database.query(sql.unsafe`
        update erasures set cached_until = now(), check_at = least(check_at, now()) where issued_at is null and waits_for = 'caches'`)
      return (await drape.call('GET', path)).body.status === 'ISSUED'
    })
    return (await drape.call('GET', path)).body.receipt
  }
  const keyIds = async () =>
    (await drape.call('GET', '/receipts/keys')).body.keys.map(({ kid }: { kid: string }) => kid)

  it('are not issued while the storage fails half-way, and then cover what was erased before', async () => {
    await store('halfway', 600, 'person')
    await store('halfway', 5, 'result')
    const folder = join(new URL(drape.env.STORAGE_URL).pathname, 'results')
    await rename(folder, `${folder}-away`)
    await writeFile(folder, '')
    expect((await erase('halfway')).status).toBe(503)
    const open = await drape.database.one(sql.type(Open)`
      select id, erased_at is not null as "isErased", (select count(*) from erased_objects) as objects from erasures`)
    expect(open).toMatchObject({ isErased: false, objects: 500 })
    const path = `/tryon/v1/erasures/${open.id}`
    expect((await drape.call('GET', path)).body).toMatchObject({
      status: 'PENDING',
      waitsFor: 'erasure',
      receipt: null,
    })
    await rm(folder)
    await rename(`${folder}-away`, folder)
    const again = await erase('halfway')
    expect(again).toMatchObject({ status: 204 })
    expect(again.headers.get('location')).toBe(path)
    const { statement } = await issued(path)
    expect(statement.objects).toMatchObject({ count: 605, bytes: 605_000, byKind: { person: 600, result: 5 } })
  })

  it('list each of 10,000 objects', async () => {
    await store('giant', 10_000, 'person')
    const started = performance.now()
    const { status, headers } = await erase('giant')
    expect(status).toBe(204)
    const receipt = await issued(headers.get('location') ?? '')
    console.log(`10,000 objects: receipt after ${Math.round(performance.now() - started)} ms`)
    expect(receipt.statement.objects.count).toBe(10_000)
    expect(new Set(receipt.leaves).size).toBe(10_000)
    expect(verifyReceipt(JSON.stringify(receipt), await keyIds()).status).toBe('valid')
  })

  it('count each object once when many calls erase the same customer', async () => {
    await store('crowded', 2000, 'person')
    const answers = await Promise.all(Array.from({ length: 8 }, () => erase('crowded')))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204))
    const paths = [...new Set(answers.map(({ headers }) => headers.get('location') ?? ''))]
    const receipts = await Promise.all(paths.map(issued))
    const leaves = receipts.flatMap((receipt) => receipt.leaves)
    expect(leaves).toHaveLength(2000)
    expect(new Set(leaves).size).toBe(2000)
  })
})
