import { globSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../../api/generations/acceptance.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createAppealUrls, readAppealReference } from '../../../../api/trust/appeals/appeal-reference.ts'
import { createSafetyReviews } from '../../../../api/trust/appeals/safety-reviews.store.ts'
import { callOf, createCaller } from '../../../support/accepted.ts'
import { browserReason, startBrowser } from '../../../support/browser.ts'
import { startDrape } from '../../../support/drape.ts'
import { inspectLooks } from '../../../support/page-looks.ts'
import { refuseGeneration } from '../../../support/refused.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'

const JSON_TYPE = 'application/json'
const HTML_TYPE = 'text/html,*/*;q=0.8'

describe('the page on which a shopper appeals a refusal', async () => {
  let addresses = 0
  const drape = await startDrape({ env: { PROXY_HOPS: '1' } })
  const caller = await createCaller(drape.database, 1000)
  const key = await createAccounts(drape.database).insertKey(caller.accountId, 'secret')
  const shop = await createDevelopmentShop({ ...drape, accountId: caller.accountId })
  afterAll(() => drape.stop())

  const reviews = () => createSafetyReviews(drape.database)
  const newAddress = () => `10.${addresses >> 8}.${addresses++ & 255}.1`
  const urlOf = async (id: string): Promise<string> =>
    (await drape.call('GET', `/tryon/v1/generations/${id}`, { key })).body.appealUrl
  const pathOf = async (id: string) => new URL(await urlOf(id)).pathname
  const refuse = async () => {
    const id = await refuseGeneration(drape.database, caller, { shopId: shop.id })
    return { id, path: await pathOf(id) }
  }
  interface Sent {
    readonly reason?: unknown
    readonly accept?: string
    readonly address?: string
    readonly headers?: Readonly<Record<string, string>>
  }
  const read = async (path: string, { accept = JSON_TYPE, address = newAddress(), headers = {} }: Sent = {}) => {
    const response = await fetch(`${drape.api.url}${path}`, {
      headers: { accept, 'x-forwarded-for': address, ...headers },
    })
    return answerOf(response)
  }
  const send = async (
    path: string,
    { reason = 'It is a shirt.', accept = JSON_TYPE, address = newAddress() }: Sent = {},
  ) => {
    const body = new FormData()
    if (typeof reason === 'string') body.set('reason', reason)
    else body.set('other', 'x')
    const headers = { accept, 'x-forwarded-for': address }
    return answerOf(await fetch(`${drape.api.url}${path}`, { method: 'POST', body, headers }))
  }
  const answerOf = async (response: Response) => {
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith(JSON_TYPE)
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null }
  }
  const decide = (id: string, decision: 'ALLOWED' | 'REFUSED' | 'BLOCKED', answer = 'We looked.') =>
    reviews().decide(id, { version: 1, decision, answer })

  it('is linked only from responses of a refused generation', async () => {
    const { id } = await refuse()
    const url = await urlOf(id)
    expect(url).toMatch(/^https?:\/\/[^/]+\/appeal\/[\w.-]{60,160}$/)
    expect(await urlOf(id)).toBe(url)
    const shopper = await drape.call('GET', `/public/generation/${id}`, { key, headers: shop.headers })
    expect(shopper.body.appealUrl).toBe(url)
    const failed = callOf(caller)
    await acceptGeneration(drape.database, failed)
    await drape.call('POST', `/tryon/v1/generations/${failed.generationId}/cancel`, { key })
    expect(await urlOf(failed.generationId)).toBeUndefined()
    // A refusal that a later attempt replaced by another failure.
    expect(await urlOf(await refuseGeneration(drape.database, caller, { code: 'GENERATION_TIMEOUT' }))).toBeUndefined()
  })

  it('shows the reason without an image, accepts one text, and later shows the decision', async () => {
    const { id, path } = await refuse()
    const page = await read(path, { accept: HTML_TYPE })
    expect(page).toMatchObject({ status: 200 })
    expect(page.text).toContain('It seems to show nudity. (NUDITY_DETECTED)')
    expect(page.text).toContain('your photo')
    expect(page.text).toContain('maxlength="1000"')
    expect(page.text).not.toMatch(/<img|<script|https?:/)
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/,
    )
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const open = { state: 'OPEN', reason: 'It is a shirt.', answer: null, decidedAt: null }
    expect((await send(path)).body).toMatchObject(open)
    // Another tab: the first text stays.
    expect((await send(path, { reason: 'Something else' })).body).toMatchObject(open)
    expect(await reviews().find(id)).toMatchObject({ version: 1, byShopper: true, shopId: shop.id })
    expect((await send(path, { accept: HTML_TYPE })).text).toContain('Your request was received')
    await decide(id, 'REFUSED', 'It shows <b>skin</b>.')
    const decided = { state: 'REFUSED', answer: 'It shows <b>skin</b>.', decidedAt: expect.any(String) }
    for (const answer of [await read(path), await send(path, { reason: 'Please!' })])
      expect(answer.body).toMatchObject(decided)
    expect((await read(path, { accept: HTML_TYPE })).text).toContain('It shows &#60;b&#62;skin&#60;/b&#62;.')
    expect(await reviews().find(id)).toMatchObject({ reason: 'It is a shirt.', state: 'REFUSED' })
  })

  it('shows the answer of the operator only to the holder of the reference and the account', async () => {
    const [mine, other] = [await refuse(), await refuse()]
    await send(mine.path)
    await decide(mine.id, 'ALLOWED', 'For you.')
    expect((await read(mine.path)).body.answer).toBe('For you.')
    expect((await read(other.path)).body).toMatchObject({ state: null, answer: null })
    const appeal = (id: string, reason: string) =>
      drape.call('POST', `/tryon/v1/generations/${id}/appeal`, { key, body: { reason } })
    expect((await appeal(mine.id, 'Ours')).body).toMatchObject({ reason: 'It is a shirt.', answer: 'For you.' })
    await appeal(other.id, 'Words of the shop')
    await decide(other.id, 'REFUSED', 'Words to the shop')
    const { body, text } = await send(other.path)
    expect(body).toMatchObject({ state: 'REFUSED', reason: null, answer: null })
    expect(text).not.toContain('Words')
    expect((await read(other.path, { accept: HTML_TYPE })).text).toContain('The shop itself asked')
  })

  it.skipIf(browserReason)('is accessible, before and after the text is sent', async () => {
    await using browser = await startBrowser()
    const page = await browser.newPage()
    await page.setExtraHTTPHeaders({ 'x-forwarded-for': newAddress() })
    const { path } = await refuse()
    await page.goto(`${drape.api.url}${path}?lang=en`)
    const violations = await inspectLooks(page, { name: 'appeal' })
    await page.type('textarea', 'It is a shirt.')
    await Promise.all([page.waitForNavigation(), page.click('button')])
    violations.push(...(await inspectLooks(page, { name: 'appeal-received' })))
    expect(violations).toEqual([])
  })

  it('keeps the text of a shopper when the account appeals too', async () => {
    const { id, path } = await refuse()
    await send(path)
    await drape.call('POST', `/tryon/v1/generations/${id}/appeal`, { key, body: { reason: 'Ours' } })
    expect((await read(path)).body).toMatchObject({ state: 'OPEN', reason: 'It is a shirt.' })
  })

  it('responds equally to references that are unknown, foreign, expired or of a deleted refusal', async () => {
    const { id, path } = await refuse()
    const reference = path.slice('/appeal/'.length)
    const [name, expires, signature] = reference.split('.')
    const secret = 'a secret of another installation'
    const foreign = createAppealUrls({ publicUrl: '', secret })({ id, refusedAt: new Date() })
    const gone = await refuse()
    await drape.database.query(sql.unsafe`delete from safety_refusals where generation_id = ${gone.id}`)
    const bad = [
      ...[`/appeal/${name}`, `/appeal/${name}.${expires}.`, `/appeal/${name}.${Number(expires) + 1}.${signature}`],
      ...[
        `/appeal/${name}.${expires}.${signature.slice(0, 42)}${signature.endsWith('A') ? 'B' : 'A'}`,
        foreign,
        gone.path,
      ],
      ...[`/appeal/${'x'.repeat(8000)}`, `/appeal/${encodeURIComponent('../removal')}`, '/appeal/%F0%9F%91%97'],
      `/appeal/${encodeURIComponent("' or 1=1 --")}`,
    ]
    const first = await read(bad[0])
    expect(first).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
    for (const one of bad) {
      for (const answer of [await read(one), await send(one)]) {
        expect([one, answer.status, answer.text]).toEqual([one, 404, first.text])
      }
    }
    const lastDay = { secret, now: Date.now() + 179 * 86_400_000 }
    const ours = foreign.slice('/appeal/'.length)
    expect(readAppealReference(ours, lastDay)).toBe(id)
    expect(readAppealReference(ours, { secret, now: Date.now() + 181 * 86_400_000 })).toBeNull()
    expect((await read(path)).status).toBe(200)
  })

  it('refuses texts that are missing, too short or too long, files and other bodies, before it reads the reference', async () => {
    const { id, path } = await refuse()
    for (const target of [path, '/appeal/unknown']) {
      for (const reason of [null, '', 'no', ' \n ', 'x'.repeat(1001), 'x'.repeat(40_000)])
        expect([target, (await send(target, { reason })).status]).toEqual([target, 400])
      const file = new FormData()
      file.set('reason', 'It is a shirt.')
      file.set('file', new Blob([new Uint8Array(100)]), 'x.png')
      const requests = [
        { body: file },
        { body: 'reason=It+is+a+shirt', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        { body: '{"reason":"It is a shirt"}', headers: { 'content-type': JSON_TYPE } },
      ]
      for (const init of requests) {
        const headers = { accept: JSON_TYPE, 'x-forwarded-for': newAddress(), ...('headers' in init && init.headers) }
        const response = await fetch(`${drape.api.url}${target}`, { method: 'POST', body: init.body, headers })
        expect([target, response.status]).toEqual([target, 400])
      }
    }
    expect(await reviews().find(id)).toBeNull()
    const huge = await send(path, { reason: 'x'.repeat(40_000) })
    expect(huge.body.details).toEqual([{ path: '', message: 'has fields of more than 16 kB' }])
    // Browsers count a line break once and send two characters.
    expect((await send(path, { reason: 'ab\r\n'.repeat(333) })).body.reason).toBe('ab\n'.repeat(333))
  })

  it('speaks the language of the browser, or of the link', async () => {
    const { path } = await refuse()
    const inGerman = { accept: HTML_TYPE, headers: { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' } }
    const german = await read(path, inGerman)
    expect(german.text).toContain('<html lang="de">')
    expect(german.text).toContain('?lang=de"')
    expect((await read(`${path}?lang=ar`, inGerman)).text).toContain('<html lang="ar" dir="rtl">')
    expect((await read(`${path}?lang=ja`, inGerman)).text).toContain('Ask for a review')
    const unknown = await read('/appeal/x?lang=fr', { accept: HTML_TYPE })
    expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining('Cette adresse est incomplète') })
    // Pages of shops have any tag in `lang`.
    for (const lang of ['fil', 'zh-Hant-TW-u-co-stroke', '%3Cscript%3E', '__proto__', '']) {
      const page = await read(`${path}?lang=${lang}`, { accept: HTML_TYPE })
      expect([lang, page.status, page.text.includes('<html lang="en">')]).toEqual([lang, 200, true])
      expect(page.text).not.toContain('<script')
    }
  })

  it.each([
    'trust/appeals/appeal-texts',
    'trust/removals/removal-texts',
    'trust/consent/privacy-texts',
    'storefront/share/share-texts',
  ])('has the same texts in the languages of the widget, in %s', (folder) => {
    const root = new URL('../../../../api/', import.meta.url)
    const keysOf = (value: unknown, path = ''): string[] =>
      typeof value === 'string'
        ? [path]
        : Object.entries(value as object).flatMap(([name, inner]) => keysOf(inner, `${path}.${name}`))
    const readTexts = (name: string) => JSON.parse(readFileSync(new URL(`${folder}/${name}`, root), 'utf8'))
    const names = globSync('*.json', { cwd: new URL(folder, root) }).sort()
    expect(names).toEqual(globSync('*.json', { cwd: new URL('widget/texts', root) }).sort())
    for (const name of names) expect([name, keysOf(readTexts(name))]).toEqual([name, keysOf(readTexts('en.json'))])
  })

  describe('is limited', () => {
    it('to 10 new reviews per hour and address, whichever references they name', async () => {
      const refused = []
      for (let i = 0; i < 11; i++) refused.push(await refuse())
      const address = '198.51.100.7'
      for (const { path } of refused.slice(0, 10)) expect((await send(path, { address })).status).toBe(200)
      const eleventh = await send(refused[10].path, { address })
      expect(eleventh.status).toBe(429)
      expect(Number(eleventh.headers.get('retry-after'))).toBeGreaterThan(60)
      const page = await send(refused[10].path, { address, accept: HTML_TYPE })
      expect(page).toMatchObject({ status: 429, text: expect.stringContaining('Too many requests were sent') })
      expect((await send(refused[10].path, { address: '198.51.101.7' })).status).toBe(200)
    })

    it('per reference, so that one reference cannot block others of the same address', async () => {
      const [decided, victim] = [await refuse(), await refuse()]
      await send(decided.path)
      await decide(decided.id, 'REFUSED')
      for (let i = 0; i < 300; i++) await send(decided.path, { address: `203.0.113.${i % 250}` })
      expect((await send(victim.path, { address: '203.0.113.251' })).body.state).toBe('OPEN')
    })

    it('to 60 requests per minute and address', async () => {
      const { path } = await refuse()
      const statuses: number[] = []
      for (let i = 0; i < 61; i++) statuses.push((await read(path, { address: '192.0.2.9' })).status)
      expect([statuses[59], statuses[60]]).toEqual([200, 429])
    })

    it('to 100 open appeals per shop, which leaves room for the account and other shops', async () => {
      const full = await createCaller(drape.database, 1000)
      const accountKey = await createAccounts(drape.database).insertKey(full.accountId, 'secret')
      const owner = { ...drape, accountId: full.accountId }
      const [busy, quiet] = [
        await createDevelopmentShop(owner, 'busy.test'),
        await createDevelopmentShop(owner, 'quiet.test'),
      ]
      const refuseFor = (shopId: string) => refuseGeneration(drape.database, full, { shopId })
      const urls = createAppealPaths(accountKey)
      for (let i = 0; i < 100; i++) await reviews().appeal(await refuseFor(busy.id), 'Flood.', { byShopper: true })
      expect((await send(await urls(await refuseFor(busy.id)))).status).toBe(429)
      expect((await send(await urls(await refuseFor(quiet.id)))).status).toBe(200)
      const own = await refuseFor(busy.id)
      const appealed = await drape.call('POST', `/tryon/v1/generations/${own}/appeal`, {
        key: accountKey,
        body: { reason: 'Ours.' },
      })
      expect(appealed.status).toBe(200)
    })
    const createAppealPaths = (accountKey: string) => async (id: string) =>
      new URL((await drape.call('GET', `/tryon/v1/generations/${id}`, { key: accountKey })).body.appealUrl).pathname
  })

  it('cannot fill the list of reviews, which alternates between accounts and shops', async () => {
    await drape.database.query(sql.unsafe`delete from safety_refusals`)
    const other = await createCaller(drape.database, 100)
    const flooded: string[] = []
    for (let i = 0; i < 90; i++) {
      const { id } = await refuse()
      await reviews().appeal(id, 'Flood.', { byShopper: true })
      flooded.push(id)
    }
    const small = await createDevelopmentShop({ ...drape, accountId: caller.accountId }, 'small.test')
    const late = [
      await refuseGeneration(drape.database, other),
      await refuseGeneration(drape.database, other),
      await refuseGeneration(drape.database, caller, { shopId: small.id }),
    ]
    for (const id of late) await reviews().appeal(id, 'Late.', { byShopper: true })
    const listed = (await reviews().listing.list({}, { limit: 6 })).map(({ generationId }) => generationId)
    expect(listed).toEqual([flooded[0], late[0], late[1], late[2], flooded[1], flooded[2]])

    // Of the same millisecond.
    for (const id of [...late].reverse())
      await drape.database.query(sql.unsafe`
      update safety_reviews set created_at = '2026-01-01' where generation_id = ${id}`)
    const early = (await reviews().listing.list({}, { limit: 4 })).map(({ generationId }) => generationId)
    expect(early).toEqual([late[0], late[2], late[1], flooded[0]])
  })
})
