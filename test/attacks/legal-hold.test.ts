import { afterAll, describe, expect, it } from 'vitest'
import { Nullable, Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { createLegalHolds, type HoldingPolicy } from '../../api/shared/retention/legal-holds.store.ts'
import { createStorage } from '../../api/shared/storage/storage.ts'
import { sweepOnce } from '../../scripts/commands/sweep.ts'
import { formOf, readSample, readSmallPerson, startDrape } from '../support/drape.ts'

const Row = rowType(Type.Object({ key: Type.String(), externalUserId: Nullable(Type.String()) }))

describe('the erasure of a held customer', async () => {
  const drape = await startDrape({ credits: 100 })
  await drape.startWorker()
  const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: '', signingSecret: '' })
  const person = await readSmallPerson()
  const shirt = await readSample('garments/tshirt-navy.jpg')
  afterAll(async () => {
    storage.close()
    await drape.stop()
  })

  const publish = (...policies: HoldingPolicy[]) => createLegalHolds(drape.database).publish('kubernetes', policies)
  const upload = (externalUserId?: string) => drape.upload(person, { externalUserId })
  const tryOn = (imageId: string, externalUserId: string) =>
    drape.call('POST', '/tryon/v1/try-on', {
      body: formOf(
        {
          products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
          person: { image: { source: { id: imageId } } },
          output: { engine: 'mock' },
          externalUserId,
        },
        { shirt },
      ),
    })
  const erase = (customer: string) => drape.call('DELETE', `/tryon/v1/customers/${customer}`)
  const rowsOf = (customer: string) =>
    drape.database.any(sql.type(Row)`
      select key, external_user_id as "externalUserId" from objects where external_user_id = ${customer} order by key`)
  const settle = () => drape.database.query(sql.unsafe`update objects set created_at = created_at - interval '1 hour'`)
  const sweep = () => sweepOnce(drape.database, { storage, policies: undefined })

  /** A customer with a tagged photo, an untagged one and two results. */
  const createCustomer = async (customer: string) => {
    const photos = [await upload(customer), await upload()]
    const links: string[] = photos.map(({ imageUrl }) => imageUrl)
    const generations: string[] = []
    for (const { imageId } of photos) {
      const { generationId } = (await tryOn(imageId, customer)).body
      links.push((await drape.finish(generationId)).resultImageUrl)
      generations.push(generationId)
    }
    await settle()
    return { photos, links, generations }
  }

  it.each([
    ['the customer', (accountId: string, customer: string) => [{ accountId, externalUserId: customer }]],
    ['the whole account', (accountId: string) => [{ accountId }]],
    ['a policy that was never read', () => null],
  ])('under a hold of %s hides everything at once and keeps the bytes until the hold ends', async (name, holdsOf) => {
    const customer = `held-${name.length}`
    const { photos, links, generations } = await createCustomer(customer)
    const stored = await Promise.all(
      photos.map(({ imageId }) => storage.get(`persons/${drape.accountId}/${imageId}.jpg`)),
    )
    await publish({ name: 'shop/court', holds: holdsOf(drape.accountId, customer) }, { name: 'shop/days', holds: [] })

    expect((await erase(customer)).status).toBe(204)
    expect((await erase(customer)).status).toBe(204)
    for (const link of links) expect((await fetch(link)).status, link).toBe(404)
    for (const { imageId } of photos)
      expect((await tryOn(imageId, customer)).body).toMatchObject({ code: 'VALIDATION_FAILED' })
    for (const id of generations) {
      const { body } = await drape.call('GET', `/tryon/v1/generations/${id}`)
      expect(body).toMatchObject({ status: 'COMPLETED', imagesExpired: true })
    }
    const kept = await rowsOf(customer)
    expect(kept.length).toBeGreaterThanOrEqual(4)
    for (const { key } of kept) expect(key).toMatch(/^held\//)
    for (const [i, { imageId }] of photos.entries())
      expect(await storage.get(`held/persons/${drape.accountId}/${imageId}.jpg`)).toEqual(stored[i])

    // Another policy without a hold, and a sweep, delete none of them.
    expect(await sweep()).toMatchObject({ objects: 0 })
    expect(await rowsOf(customer)).toEqual(kept)

    await publish({ name: 'shop/days', holds: [] })
    expect(await sweep()).toMatchObject({ objects: kept.length })
    expect(await rowsOf(customer)).toEqual([])
    for (const { key } of kept) expect(await storage.exists(key)).toBe(false)
  })

  it('takes effect at once for a customer whose hold has ended', async () => {
    const { links } = await createCustomer('was-held')
    await publish({ name: 'shop/court', holds: [{ accountId: drape.accountId, externalUserId: 'was-held' }] })
    await publish({ name: 'shop/court', holds: [{ accountId: drape.accountId, externalUserId: 'other' }] })
    expect((await erase('was-held')).status).toBe(204)
    for (const link of links) expect((await fetch(link)).status).toBe(404)
    expect(await rowsOf('was-held')).toEqual([])
  })

  it('does not race with the publication of a hold: a deletion under way ends first', async () => {
    await publish()
    const order: string[] = []
    let publishing: Promise<unknown> = Promise.resolve()
    await drape.database.transaction(async (deletion) => {
      await deletion.query(sql.unsafe`select lock_legal_holds_shared()`)
      publishing = publish({ name: 'shop/court', holds: [{ accountId: drape.accountId }] }).then(() =>
        order.push('published'),
      )
      await new Promise((resolve) => setTimeout(resolve, 100))
      order.push('deleted')
    })
    await publishing
    expect(order).toEqual(['deleted', 'published'])
    await publish()
  })

  it('waits, also right after an installation, until the controller has published its holds', async () => {
    await createLegalHolds(drape.database).awaitPublication()
    await createCustomer('early')
    expect((await erase('early')).status).toBe(204)
    expect((await rowsOf('early')).length).toBeGreaterThanOrEqual(4)
    await publish()
    await sweep()
    expect(await rowsOf('early')).toEqual([])
  })
})
