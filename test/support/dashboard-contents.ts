import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createRequestLog } from '../../api/http/request-log.store.ts'
import { rowType, Type } from '../../api/shared/contract/schema.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { sql } from '../../api/shared/database/database.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import { createObjects } from '../../api/shared/storage/objects.store.ts'
import { createShops } from '../../api/shops/shops.store.ts'
import { createLeadOutbox } from '../../api/storefront/leads/lead-outbox.store.ts'
import { createSafetyReviews } from '../../api/trust/appeals/safety-reviews.store.ts'
import { createRemovals } from '../../api/trust/removals/removals.store.ts'
import { createWebhooks } from '../../api/webhooks/webhooks.store.ts'
import { insertPhoto } from '../../scripts/benchmarks/sample-data.ts'
import { readSample } from './drape.ts'
import { refuseGeneration } from './refused.ts'

/** Data for the dashboard, and its pages. */
export interface DashboardContents {
  readonly accountId: string
  readonly shopId: string
  readonly endpointId: string
  readonly completedId: string
  readonly failedId: string
  /** Every page that has a URL. */
  readonly pages: readonly string[]
}

/** Screenshots of one hour have the same plots. */
const BASE = process.env.SCREENSHOTS ? sql.fragment`date_trunc('hour', now())` : sql.fragment`now()`

const Id = rowType(Type.Object({ id: Type.String() }))

/** An account of this name with all kinds of data, and the generations of a day. */
export async function fillDashboard(
  { database, storage }: { database: Database; storage: ObjectStorage },
  name: string,
): Promise<DashboardContents> {
  const accounts = createAccounts(database)
  const { id: accountId } = await accounts.insert({ name, email: 'shop@example.com', credits: 500 })
  for (let credits = 1; credits <= 4; credits++) await accounts.addCredits({ accountId, credits, note: `${name} pays` })
  await accounts.insert({ name: 'Empty', email: null, credits: 0 })
  const shops = createShops(database)
  const domain = `shop-${accountId.slice(-6)}.example`
  const shop = {
    accountId,
    platform: 'plugin' as const,
    domain,
    secret: 'a secret of the shop',
    name,
    holdoutPercent: 10,
  }
  const { id: shopId } = await shops.insert(shop)
  await shops.addSecret(shopId, 'another secret of the shop')
  const webhooks = createWebhooks(database)
  const url = `https://${domain}/hooks?of=${encodeURIComponent(name)}`
  const { id: endpointId } = await webhooks.insert({
    accountId,
    url,
    eventTypes: ['generation.failed'],
    secret: 'whsec_',
  })
  await webhooks.insertTest(endpointId)
  await webhooks.insertTest(endpointId)
  await database.query(sql.unsafe`
    update webhook_deliveries set status = 'failed', attempts = 8, last_status = 500, last_error = ${name}, ended_at = now(),
      last_attempt_at = now() where id = (select min(id) from webhook_deliveries where endpoint_id = ${endpointId})`)
  await insertProducts(database, { accountId, name })
  const resultKey = `results/${accountId}/shown.jpg`
  const image = await readSample('persons/down-half-teal.jpg')
  await createObjects(database).insert({
    key: resultKey,
    accountId,
    externalUserId: null,
    kind: 'result',
    bytes: image.length,
    expiresAt: null,
  })
  await storage.put(resultKey, image, { contentType: 'image/jpeg' })
  await insertRequests(database, accountId)
  await insertGenerations(database, { accountId, shopId, name, resultKey })
  const find = (status: string) =>
    database.oneFirst(sql.type(Id)`
      select max(id) as id from generations where account_id = ${accountId} and status = ${status}`)
  const [completedId, failedId] = [await find('COMPLETED'), await find('FAILED')]
  const removalId = await insertRemoval(database)
  await database.query(sql.unsafe`update generations set external_user_id = 'customer-4711' where id = ${completedId}`)
  const pages = [
    ...['/', '/?span=quarter', '/accounts', '/accounts/new', `/accounts/${accountId}`, `/accounts/${accountId}/ledger`],
    `/accounts/${accountId}/requests`,
    ...[
      '/shops',
      '/shops/new',
      `/shops/${shopId}`,
      `/shops/${shopId}/analytics`,
      '/generations',
      `/generations/${completedId}`,
    ],
    ...[`/generations/${failedId}`, '/products', '/webhooks', '/webhooks/new', `/webhooks/${endpointId}`, '/audit'],
    ...[
      '/operators',
      '/second-factor',
      '/removals',
      `/removals/${removalId}`,
      '/reviews',
      '/blocks',
      '/people',
      `/people?q=${completedId}`,
      '/erasures',
    ],
  ]
  return { accountId, shopId, endpointId, completedId, failedId, pages }
}

/** Addresses that wait or were rejected, appeals that are open or decided, and a blocked image. */
export async function fillQueues(
  database: Database,
  { accountId, shopId }: DashboardContents,
): Promise<{ openReview: string; decidedReview: string; pages: readonly string[] }> {
  for (const email of ['anna@example.com', 'ben@example.com', 'carla@example.com'])
    await createLeadOutbox(database).insert({ shopId, externalUserId: 'x', email, marketingConsent: true })
  await database.query(sql.unsafe`
    update lead_outbox set dead_at = now(), reason = 'The platform of the shop answered 401.' where email = 'anna@example.com'`)
  const caller = { accountId, imageId: await insertPhoto(database, { accountId, expiresInHours: 1 }) }
  const reviews = createSafetyReviews(database)
  const appeal = async (reason: string, byShopper: boolean) => {
    const id = await refuseGeneration(database, caller, { shopId })
    await reviews.appeal(id, reason, { byShopper })
    return id
  }
  const openReview = await appeal('I wear a top without sleeves, nothing else is bare.', true)
  const decidedReview = await appeal('This is a dress in the colour of skin.', false)
  const decision = { decision: 'BLOCKED', answer: 'The photo shows nudity.', blockDays: 30, version: 1 } as const
  await reviews.decide(decidedReview, decision)
  const pages = ['/leads', `/leads/${shopId}`, `/reviews/${openReview}`, `/reviews/${decidedReview}`]
  return { openReview, decidedReview, pages }
}

/** A removal request for an image without a similar stored image. */
async function insertRemoval(database: Database): Promise<string> {
  const id = `rem_${uuidv7()}`
  const [reference, hashes] = [randomBytes(32).toString('hex'), ['0'.repeat(64)]]
  const request = { id, reference, hashes, email: 'ada@example.com', reason: 'This is my photo.' }
  await createRemovals(database).insert(request)
  return id
}

async function insertRequests(database: Database, accountId: string) {
  const answers = [
    ['POST', '/tryon/v1/try-on', 201, null],
    ['GET', '/tryon/v1/generations/{id}', 200, null],
    ['POST', '/tryon/v1/try-on', 402, 'INSUFFICIENT_CREDITS'],
    ['GET', '/tryon/v1/engines', 503, 'SERVICE_UNAVAILABLE'],
  ] as const
  const entries = answers.map(([method, route, status, errorCode], i) => {
    const createdAt = new Date(Date.now() - i * 60_000)
    return {
      accountId,
      method,
      route,
      status,
      errorCode,
      createdAt,
      keyLastFour: 'a1B2',
      durationMs: 12 * (i + 1),
      requestId: `req_${i}`,
    }
  })
  await createRequestLog(database).insert(entries)
}

async function insertProducts(database: Database, { accountId, name }: { accountId: string; name: string }) {
  await database.query(sql.unsafe`
    insert into products (id, account_id, external_id, title, images, images_edition)
    select 'prod_' || md5(${accountId}) || i, ${accountId}, 'sku-' || i, ${name} || ' ' || i,
      jsonb_build_array(jsonb_build_object('sourceUrl', 'https://shop.example/' || i || '.jpg', 'order', 0,
        'classifications', null)), 'first'
    from generate_series(1, 5) as i`)
}

interface Generations {
  readonly accountId: string
  readonly shopId: string
  readonly name: string
  readonly resultKey: string
}

async function insertGenerations(database: Database, { accountId, shopId, name, resultKey }: Generations) {
  await database.query(sql.unsafe`
    insert into generations (id, account_id, product_id, product_external_id, shop_id, status, deadline_at, cost, engine,
      options, snapshot, result_key, images_expire_at, error_code, error_message, warnings, timings, engine_info, category,
      created_at, started_at, finished_at)
    select 'gen_' || md5(${accountId}) || lpad(i::text, 6, '0'), ${accountId}, 'prod_1', 'sku-' || (i % 5), ${shopId},
      case when i % 9 = 0 then 'FAILED' when i > 176 then 'PENDING' else 'COMPLETED' end, now() + interval '10 minutes', 1,
      'warp', jsonb_build_object('format', 'jpeg', 'note', ${name}::text), jsonb_build_object('title', ${name}::text),
      case when i % 9 <> 0 then ${resultKey} end, now() + interval '7 days',
      case when i % 27 = 0 then 'PRODUCT_IMAGE_FETCH_FAILED' when i % 45 = 0 then 'GENERATION_FAILED' when i % 9 = 0 then 'NO_PERSON_DETECTED' end,
      case when i % 9 = 0 then ${name} end, jsonb_build_array('The pose is unusual: ' || ${name}::text),
      jsonb_build_object('fetch', 120.4, 'person', 830, 'warp', 2210.7), jsonb_build_object('name', 'warp', 'version', '1'),
      'tops', at, at + interval '1 second', case when i <= 176 or i % 9 = 0 then at + make_interval(secs => 3 + i % 5 + case when i % 23 = 0 then 20 else 0 end) end
    from generate_series(1, 180) as i
    cross join lateral (select ${BASE} - make_interval(mins => (180 - i) * 8) as at) as times`)
  await database.query(sql.unsafe`
    insert into outbox (generation_id, account_id, queue, engine_name, payload)
    select id, account_id, 'try-on', engine, jsonb_build_object('engine', engine) from generations
    where account_id = ${accountId} and status = 'PENDING'`)
}
