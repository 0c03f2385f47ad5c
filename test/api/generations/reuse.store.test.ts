import { v7 as uuidv7 } from 'uuid'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { type Acceptance, acceptGeneration, acceptOutfit } from '../../../api/generations/acceptance.store.ts'
import { createWorkerOperations } from '../../../api/generations/worker-operations.ts'
import { sql } from '../../../api/shared/database/database.ts'
import type { LayerOutcome } from '../../../api/shared/generations/generation.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { generateWebhookSecret } from '../../../api/shared/signing/webhook-signature.ts'
import { createWebhooks } from '../../../api/webhooks/webhooks.store.ts'
import { insertPhoto, PRODUCT_IMAGES } from '../../../scripts/benchmarks/sample-data.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { formOf, readSample, readSmallPerson, startDrape } from '../../support/drape.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const ENGINE = { name: 'warp', version: '3', license: 'Apache-2.0', kind: 'preview' }
const REUSE = { credits: 0, version: ENGINE.version }

describe('the acceptance for an account that reuses results', async () => {
  const { database } = await openTestDatabase({ poolSize: 5 })
  const operations = createWorkerOperations(database, createGenerations(database))

  const accept = async (caller: Caller, changes: Partial<Acceptance> = {}) => {
    const call = callOf(caller, { reuse: REUSE, ...changes })
    await acceptGeneration(database, call)
    return call.generationId
  }
  const complete = async (id: string, reused = false, layers?: readonly LayerOutcome[]) => {
    const attempt = {
      id,
      attempt: 1,
      accountId: (await createGenerations(database).find(id))?.accountId ?? '',
      format: 'jpeg' as const,
    }
    await operations.start({ ...attempt, worker: 'w' })
    await operations.insertResult({ ...attempt, bytes: 1, hash: null })
    const outcome = {
      warnings: ['CATEGORY_ASSUMED'],
      timings: {},
      engineInfo: ENGINE,
      category: 'tops',
      reused,
      layers,
    }
    expect(await operations.complete({ ...attempt, outcome })).toBe(true)
    return id
  }
  const sourceOf = (id: string) => database.oneFirst(sql.unsafe`select reused_from from generations where id = ${id}`)
  const costOf = (id: string) => database.oneFirst(sql.unsafe`select cost from generations where id = ${id}`)
  const balanceOf = async ({ accountId }: Caller) => (await createAccounts(database).find(accountId))?.balance
  const update = (statement: ReturnType<typeof sql.unsafe>) => database.query(statement)

  it('names the newest result of an equal call, at the price of the account', async () => {
    const caller = await createCaller(database, 10)
    const first = await complete(await accept(caller, { cost: 3 }))
    expect(await sourceOf(first)).toBe(null)
    expect(await balanceOf(caller)).toBe(7)
    const second = await accept(caller, { cost: 3, reuse: { ...REUSE, credits: 1 } })
    expect([await sourceOf(second), await costOf(second), await balanceOf(caller)]).toEqual([first, 1, 6])
    const key = (await createGenerations(database).find(first))?.resultKey
    expect(
      await database.oneFirst(sql.unsafe`select payload->'reuse' from outbox where generation_id = ${second}`),
    ).toEqual({
      ...{ key, warnings: ['CATEGORY_ASSUMED'], category: 'tops', quality: null },
      ...{ engine: ENGINE, ingredientSalt: null, layers: null },
    })
    await complete(second, true)
    const third = await accept(caller, { cost: 3, reuse: { ...REUSE, credits: 5 } })
    expect([await sourceOf(third), await costOf(third), await balanceOf(caller)]).toEqual([second, 3, 3])
    const free = await accept(caller, { cost: 3 })
    const entries = sql.unsafe`select count(*)::int from ledger where generation_id = ${free}`
    expect([await costOf(free), await database.oneFirst(entries), await balanceOf(caller)]).toEqual([0, 0, 3])
    // A real run, because the source was deleted meanwhile.
    await complete(free)
    expect(await sourceOf(free)).toBe(null)
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  const SAME = callOf({ accountId: 'a', imageId: 'i' })
  it.each<[string, (caller: Caller) => Promise<Partial<Acceptance>> | Partial<Acceptance>]>([
    ['another end user', () => ({ externalUserId: 'bob' })],
    ['no end user', () => ({ externalUserId: null })],
    [
      'another photo',
      async ({ accountId }) => ({ imageId: await insertPhoto(database, { accountId, expiresInHours: 1 }) }),
    ],
    ['another engine', () => ({ engine: 'mock' })],
    ['another version of the engine', () => ({ reuse: { ...REUSE, version: '4' } })],
    ['an unknown version of the engine', () => ({ reuse: { ...REUSE, version: null } })],
    ['another seed', () => ({ options: { ...SAME.options, seed: 2 } })],
    ['another title', () => ({ product: { ...SAME.product, title: 'Jeans' } })],
    [
      'other images',
      () => ({
        product: {
          ...SAME.product,
          id: uuidv7(),
          images: PRODUCT_IMAGES.slice(0, 1).map((image) => ({ ...image, sourceUrl: 'https://shop.example/x.jpg' })),
        },
      }),
    ],
    ['another product', () => ({ product: { ...SAME.product, id: uuidv7(), externalId: 'other' } })],
    ['an account that reuses nothing', () => ({ reuse: undefined })],
  ])('makes the result of %s anew', async (_, changes) => {
    const caller = await createCaller(database, 10)
    const first = await complete(await accept(caller, { externalUserId: 'ann' }))
    const equal = await accept(caller, { externalUserId: 'ann' })
    expect(await sourceOf(equal)).toBe(first)
    const other = await accept(caller, { externalUserId: 'ann', ...(await changes(caller)) })
    expect([await sourceOf(other), await costOf(other), await balanceOf(caller)]).toEqual([null, 1, 8])
  })

  it.each([
    ['waits', () => sql.unsafe`select 1`, false],
    ['has expired', (id: string) => sql.unsafe`update generations set images_expire_at = now() where id = ${id}`, true],
    ['was erased', (id: string) => sql.unsafe`update generations set result_key = null where id = ${id}`, true],
    [
      'was deleted',
      (id: string) => sql.unsafe`delete from objects using generations where key = result_key and id = ${id}`,
      true,
    ],
  ])('makes the result anew when the earlier one %s', async (_, end, isCompleted) => {
    const caller = await createCaller(database, 10)
    const first = await accept(caller)
    if (isCompleted) await complete(first)
    await update(end(first))
    expect(await sourceOf(await accept(caller))).toBe(null)
    expect(await balanceOf(caller)).toBe(8)
  })

  it('makes results anew that a changed logo, minimum quality or safety policy decides', async () => {
    const caller = await createCaller(database, 20)
    const { accountId } = caller
    await complete(await accept(caller))
    for (const changed of ['{"minQualityPercent": 20}', '{"safetyLevel": "standard"}']) {
      await update(sql.unsafe`update accounts set settings = ${changed}::jsonb where id = ${accountId}`)
      const id = await complete(await accept(caller))
      expect(await sourceOf(id)).toBe(null)
    }
    // Images that are checked are checked each time.
    const checked = await accept(caller)
    expect(await sourceOf(checked)).toBe(null)
    await update(sql.unsafe`update accounts set settings = '{}' where id = ${accountId}`)
    await update(sql.unsafe`
      with logo as (insert into objects (key, account_id, kind) values (${`logos/${accountId}`}, ${accountId}, 'logo') returning key)
      update accounts set logo_key = (select key from logo) where id = ${accountId}`)
    expect(await sourceOf(await accept(caller))).toBe(null)
    const plain = { ...SAME.options, watermark: false }
    const unmarked = await complete(await accept(caller, { options: plain }))
    expect(await sourceOf(await accept(caller, { options: plain }))).toBe(unmarked)
  })

  it('reuses outfits of the same products and layers', async () => {
    const caller = await createCaller(database, 10)
    const { product, ...call } = callOf(caller, { reuse: REUSE, cost: 2 })
    const wear = async (names: readonly string[]) => {
      const layers = names.map((externalId, i) => ({
        layer: i === 0 ? ('tops' as const) : ('bottoms' as const),
        product: { ...product, id: uuidv7(), externalId },
      }))
      const generationId = callOf(caller).generationId
      await acceptOutfit(database, { ...call, generationId, layers, layerCost: 1 })
      return generationId
    }
    const first = await complete(await wear(['shirt', 'jeans']))
    expect(await sourceOf(await wear(['shirt', 'jeans']))).toBe(first)
    expect(await sourceOf(await wear(['jeans', 'shirt']))).toBe(null)
    expect(await sourceOf(await accept(caller, { product: { ...product, externalId: 'shirt' } }))).toBe(null)
    // A product that was left out may work now.
    const [applied, missing] = [true, false].map((isShown) => ({
      applied: isShown,
      ...{ warnings: [], quality: null, errorCode: null, errorMessage: null },
    }))
    await complete(await wear(['coat', 'jeans']), false, [missing, applied])
    expect(await sourceOf(await wear(['coat', 'jeans']))).toBe(null)
  })

  it('accepts and charges equal calls at once in full, and says in the webhook what was reused', async () => {
    const caller = await createCaller(database, 10)
    const { id: endpoint } = await createWebhooks(database).insert({
      accountId: caller.accountId,
      url: 'https://shop.example/hook',
      eventTypes: ['generation.completed'],
      secret: generateWebhookSecret(),
    })
    const both = await Promise.all([accept(caller), accept(caller)])
    expect(await Promise.all(both.map(sourceOf))).toEqual([null, null])
    expect(await balanceOf(caller)).toBe(8)
    await complete(both[0])
    await complete(await accept(caller), true)
    const sent = await createWebhooks(database).listDeliveries({ endpointId: endpoint, failed: false, limit: 10 })
    expect(sent.map(({ data }) => (data as { reused?: boolean }).reused).toSorted()).toEqual([true, undefined])
  })
})

describe('a try-on that repeats an earlier one', async () => {
  const drape = await startDrape()
  await drape.startWorker()
  afterAll(() => drape.stop())

  it('gets a copy of its result, which is erased with its end user', async () => {
    const { apiKey: key } = await drape.createAccount(10, {
      writesPerMinute: 1000,
      readsPerMinute: 10_000,
      reuseCredits: 0,
    })
    const send = (path: string, data: object | undefined, files: Readonly<Record<string, Uint8Array>>) =>
      drape.call('POST', `/tryon/v1/${path}`, { key, body: formOf(data, files) })
    const { body: photo } = await send('images/upload', undefined, { file: await readSmallPerson() })
    const images = [{ source: { fileKey: 'shirt' } }]
    const shirt = await readSample('garments/tshirt-navy.jpg')
    await send('products', { externalId: 'shirt', title: 'T-shirt', images }, { shirt })
    const find = async (id: string) => (await drape.call('GET', `/tryon/v1/generations/${id}`, { key })).body
    const wear = async (externalUserId: string) => {
      const person = { image: { source: { id: photo.imageId } } }
      const data = { products: [{ externalId: 'shirt' }], person, output: { engine: 'mock' }, externalUserId }
      const { generationId } = (await send('try-on', data, {})).body
      return until(async () => {
        const generation = await find(generationId)
        return generation.status === 'COMPLETED' && generation
      })
    }
    const bytesOf = async ({ resultImageUrl }: { resultImageUrl: string }) =>
      Buffer.from(await (await fetch(resultImageUrl)).arrayBuffer())
    // Nothing is reused before the version of the engine is known.
    await until(async () => {
      const { engines } = (await drape.call('GET', '/tryon/v1/engines', { key })).body
      return engines.some(
        (engine: { name: string; version: string | null }) => engine.name === 'mock' && engine.version,
      )
    })
    const [made, ofBob] = [await wear('ann'), await wear('bob')]
    const copy = await wear('ann')
    expect([made.reused, ofBob.reused, copy.reused]).toEqual([undefined, undefined, true])
    expect(copy).toMatchObject({ engine: made.engine, warnings: made.warnings, ingredientSalt: made.ingredientSalt })
    expect(copy.resultImageUrl).not.toBe(made.resultImageUrl)
    expect((await bytesOf(copy)).equals(await bytesOf(made))).toBe(true)
    expect((await drape.call('DELETE', '/tryon/v1/customers/ann', { key })).status).toBe(204)
    const erased = await Promise.all([made, copy].map(({ generationId }) => find(generationId)))
    expect(erased).toMatchObject([{ imagesExpired: true }, { imagesExpired: true }])
    expect((await fetch(copy.resultImageUrl)).status).toBe(404)
    // The photo stays, because a try-on of another end user used it.
    expect((await wear('ann')).reused).toBe(undefined)
  })
})
