import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../../api/shared/database/database.ts'
import { startDrape } from '../../../support/drape.ts'
import { createDevelopmentShop, createSignedShop } from '../../../support/shop.ts'
import { pathSignedByShopify } from '../../../support/shop-proxies.ts'
import { startShopifyAdmin } from '../../../support/shopify-admin.ts'
import { until } from '../../../support/until.ts'

const Lead = rowType(
  Type.Object({
    email: Type.String(),
    consent: Type.Boolean(),
    tags: Type.Array(Type.String()),
    segments: Type.Array(Type.String()),
  }),
)
const PATH = '/public/collect-email'

describe('POST /public/collect-email', async () => {
  let shoppers = 0

  const drape = await startDrape({ env: { PROXY_HOPS: '1' } })
  const shop = await createDevelopmentShop(drape)
  const admin = await startShopifyAdmin()
  afterAll(async () => {
    await drape.stop()
    await admin.stop()
  })

  /** Each call comes from another shopper at another address. */
  const collect = (body: unknown, headers: Record<string, string> = {}) =>
    drape.call('POST', PATH, {
      body,
      key: null,
      headers: { ...shop.headers, 'x-service-anonymous-id': `anon_${shoppers++}`, ...addressOf(shoppers), ...headers },
    })
  const addressOf = (place: number) => ({ 'x-forwarded-for': `198.51.100.${place}` })
  const findLead = (email: string) =>
    drape.database.maybeOne(sql.type(Lead)`
      select email, marketing_consent as consent, tags, segments from leads
      where shop_id = ${shop.id} and lower(email) = lower(${email})`)
  const TAKEN = { status: 200, body: { success: true, message: 'Thank you.' } }
  const REFUSED = { status: 200, body: { success: false, message: expect.any(String) } }

  it('stores the address in Drape if the shop has no platform', async () => {
    expect(await collect({ email: 'anna@example.com' })).toMatchObject(TAKEN)
    const anna = await until(() => findLead('anna@example.com'))
    expect(anna).toEqual({
      email: 'anna@example.com',
      consent: false,
      tags: ['widget-lead'],
      segments: ['Widget Leads'],
    })
  })

  it('stores it once, in any case and for any number of concurrent requests', async () => {
    const written = ['berta@example.com', 'Berta@Example.com', ' BERTA@EXAMPLE.COM ']
    const answers = await Promise.all([...written, ...written].map((email) => collect({ email })))
    for (const answer of answers) expect(answer).toMatchObject(TAKEN)
    await collect({ email: 'berta@example.com', marketingConsent: true })
    const berta = await until(async () => {
      const lead = await findLead('berta@example.com')
      return lead?.consent === true ? lead : null
    })
    expect(berta).toMatchObject({ tags: ['widget-lead'], segments: ['Widget Leads'] })
    await collect({ email: 'berta@example.com', marketingConsent: false })
    await collect({ email: 'carla@example.com' })
    await until(() => findLead('carla@example.com'))
    expect(await findLead('berta@example.com')).toMatchObject({ consent: true })
  })

  it('creates a customer of a shop on Shopify', async () => {
    const signing = { domain: 'leads.myshopify.com', secret: 'hush' }
    await createSignedShop(drape, signing, { adminUrl: admin.url, adminToken: admin.token })
    const body = { email: 'dora@example.com', marketingConsent: true }
    const path = pathSignedByShopify(PATH, signing)
    expect(await drape.call('POST', path, { key: null, body })).toMatchObject(TAKEN)
    await until(async () => admin.segments.length > 0 || null)
    expect(admin.customers).toMatchObject([
      { email: 'dora@example.com', tags: ['widget-lead'], marketingState: 'SUBSCRIBED' },
    ])
    expect(await findLead('dora@example.com')).toBeNull()
  })

  it.each<[string, unknown, string?]>([
    ['nothing', undefined, 'The body must be an object.'],
    ['an empty body', {}, 'The field email is required.'],
    ['a number', { email: 1 }, 'The e-mail address is not valid.'],
    ['an empty text', { email: '' }],
    ['no address', { email: 'anna' }, 'The e-mail address is not valid.'],
    ['an address without a domain', { email: 'anna@' }],
    ['two addresses', { email: 'anna@example.com,berta@example.com' }],
    ['a name with an address', { email: 'Anna <anna@example.com>' }],
    ['an address with a line break', { email: 'anna@example.com\nbcc: x@example.com' }],
    ['an address with U+0000', { email: 'anna\0@example.com' }],
    ['a long address', { email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.example` }],
    [
      'a consent that is none',
      { email: 'anna@example.com', marketingConsent: 'yes' },
      'The field marketingConsent must be true or false.',
    ],
    ['a list', [{ email: 'anna@example.com' }], 'The body must be an object.'],
    ['no JSON', '{"email":', 'The body is not valid JSON.'],
  ])('refuses %s without an error, and says why', async (_, body, message = expect.any(String)) => {
    const answer = await collect(body, { 'content-type': 'application/json' })
    expect(answer).toMatchObject({ status: 200, body: { success: false, message } })
  })

  it('accepts 10 addresses per minute from one shopper', async () => {
    const headers = { 'x-service-anonymous-id': 'anon_eager' }
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, i) => collect({ email: `eager${i}@example.com` }, headers)),
    )
    expect(answers.filter(({ body }) => body.success)).toHaveLength(10)
    expect(answers.filter(({ body }) => !body.success)[0]).toMatchObject(REFUSED)
    expect(await collect({ email: 'calm@example.com' })).toMatchObject(TAKEN)
  })

  it('stores the address before it responds', async () => {
    await drape.database.query(sql.unsafe`update lead_outbox set available_at = now() + interval '1 hour'`)
    expect(await collect({ email: 'frida@example.com' })).toMatchObject(TAKEN)
    const found = await drape.database.any(sql.unsafe`
      select email from lead_outbox where email = 'frida@example.com' union all
      select email from leads where email = 'frida@example.com'`)
    expect(found).toHaveLength(1)
  })

  it('writes no address into the log', async () => {
    await collect({ email: 'emil@example.com' })
    await until(() => findLead('emil@example.com'))
    await drape.api.end()
    expect(drape.api.output()).toContain(PATH)
    expect(drape.api.output()).not.toMatch(/@example|%40example/)
  })
})
