import { globSync, readFileSync } from 'node:fs'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../../api/accounts/restrictions.ts'
import { TEST_WARNINGS } from '../../../api/generations/test-inputs.ts'
import { ROUTES } from '../../../api/http/core-routes.ts'
import { codesOf } from '../../../api/http/openapi/answers.ts'
import { isBehindKey } from '../../../api/http/openapi/operation.ts'
import { ERROR_CODES, ERRORS } from '../../../api/shared/contract/error-codes.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { describeTestWays, listTestWays, type TestWay } from '../../../api/test-mode/refusals.ts'
import { PHOTO_WARNINGS } from '../../../worker/vision/person/photo-gate.ts'
import { type Answer, type Drape, formOf, readSample, startDrape } from '../../support/drape.ts'
import { until } from '../../support/until.ts'

const ROOT = new URL('../../../', import.meta.url)
type Simulated = Extract<TestWay, { route: string }>
const WAYS = listTestWays(ROUTES)

describe('the table of docs/test-mode.md', () => {
  const page = readFileSync(new URL('docs/test-mode.md', ROOT), 'utf8')

  it('matches the output of scripts/documents/test-mode.ts', () => {
    expect(page).toContain(`\n${describeTestWays(ROUTES)}\n`)
  })

  it('has every code, and a way for all except those of shops', () => {
    expect(WAYS.map(({ code }) => code)).toEqual(ERROR_CODES)
    const answered = new Set(ROUTES.filter(isBehindKey).flatMap(codesOf))
    const without = WAYS.filter(({ by }) => by === 'none').map(({ code }) => code)
    expect(without.filter((code) => answered.has(code))).toEqual([])
  })

  it('follows a list of all warnings of workers', () => {
    const sources = globSync('worker/**/*.ts', { cwd: ROOT }).map((path) => readFileSync(new URL(path, ROOT), 'utf8'))
    const given = sources.flatMap((text) =>
      [...text.matchAll(/(?:warnings[^\n]*?|^ *\[)'([A-Z]+(?:_[A-Z]+)+)'/gm)].map(([, name]) => name),
    )
    expect(given).toContain('CATEGORY_ASSUMED')
    expect([...PHOTO_WARNINGS, ...given].filter((warning) => !TEST_WARNINGS.includes(warning))).toEqual([])
    for (const warning of TEST_WARNINGS) expect(page).toContain(`\`${warning}\``)
  })
})

describe('a test key', () => {
  let drape: Drape
  let key: string
  let photo: Buffer
  let imageId: string

  beforeAll(async () => {
    drape = await startDrape()
    ;({ key } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
      ...UNRESTRICTED,
      isTest: true,
    }))
    // A test sends in seconds what a caller sends in minutes.
    const settings = { readsPerMinute: 1_000_000, writesPerMinute: 1_000_000 }
    const id = await drape.database.oneFirst(sql.unsafe`select id from accounts where test_of = ${drape.accountId}`)
    await createAccounts(drape.database).update(String(id), { settings })
    photo = await readSample('persons/down-half-teal.jpg')
    imageId = (await upload('user-1')).body.imageId
  })
  afterAll(() => drape.stop())

  const upload = (externalUserId: string, file = photo) => {
    const form = formOf({}, { file })
    form.set('externalUserId', externalUserId)
    return drape.call('POST', '/tryon/v1/images/upload', { body: form, key })
  }
  const tryOn = (path: string, externalUserId: string, of = key) =>
    drape.call('POST', path, {
      key: of,
      body: {
        products: [{ images: [{ source: { url: 'https://shop.example/shirt.jpg' } }] }],
        ...{ person: { image: { source: { id: imageId } } }, externalUserId },
      },
    })
  const ended = async (id: string) => {
    let body: Answer['body']
    await until(async () => {
      ;({ body } = await drape.call('GET', `/tryon/v1/generations/${id}`, { key }))
      return body.status === 'FAILED' || body.status === 'COMPLETED'
    })
    return body
  }

  /** Sends the request of a row of the table, with a body that would succeed. */
  async function ask(way: Simulated): Promise<Answer> {
    const input = `test_${way.code}`
    const [method, path] = way.route.split(' ')
    if (way.by === 'parameter') return drape.call(method, path.replace(/\{\w+\}/, input), { key })
    if (!('field' in way)) return drape.call(method, path, { key, headers: { 'x-drape-test': input } })
    if (path.startsWith('/tryon/v1/try-on')) return tryOn(path, input)
    if (path === '/tryon/v1/images/upload') return upload(input)
    const body = { [way.field]: input, title: 'Shirt', images: [{ source: { url: 'https://shop.example/a.jpg' } }] }
    return drape.call(method, path, { key, body })
  }

  describe('reaches every code of the interface', () => {
    const simulated = WAYS.filter((way): way is Simulated => 'route' in way)

    it.each(simulated)('$code, by a $by', async (way) => {
      const { status, body, headers } = await ask(way)
      if (way.by === 'failure') {
        expect(status).toBe(201)
        expect(await ended(body.generationId)).toMatchObject({ status: 'FAILED', errorCode: way.code })
        return
      }
      expect([status, body]).toEqual([ERRORS[way.code].status, expect.objectContaining({ code: way.code, status })])
      if ([429, 503].includes(status)) expect(headers.get('retry-after')).toBe('1')
    })

    it('METHOD_NOT_ALLOWED and HEADERS_TOO_LARGE, by a real request', async () => {
      expect(WAYS.filter(({ by }) => by === 'request').map(({ code }) => code)).toEqual([
        'METHOD_NOT_ALLOWED',
        'HEADERS_TOO_LARGE',
      ])
      expect((await drape.call('PUT', '/tryon/v1/account', { key })).body.code).toBe('METHOD_NOT_ALLOWED')
      const headers = { 'x-filler': 'x'.repeat(17_000) }
      expect((await drape.call('GET', '/tryon/v1/account', { key, headers })).body.code).toBe('HEADERS_TOO_LARGE')
    })
  })

  it('reaches, by the header, every code that a route behind a key documents', async () => {
    for (const route of ROUTES.filter(isBehindKey)) {
      const { id, path } = route
      const method = route.method.toUpperCase()
      for (const code of codesOf(route)) {
        if (['METHOD_NOT_ALLOWED', 'HEADERS_TOO_LARGE'].includes(code)) continue
        if (path.startsWith('/tryon/v1/try-on') && WAYS.some((way) => way.code === code && way.by === 'failure'))
          continue
        const { body } = await drape.call(method, path.replaceAll(/\{\w+\}/g, 'x'), {
          ...{ key, headers: { 'x-drape-test': `test_${code}` } },
          ...(method === 'POST' && { body: {} }),
        })
        expect(body?.code, `${id} ${code}`).toBe(code)
      }
    }
  })

  it.each(['no_person', 'too_dark'])(
    'gets the warning %s of a photo, from the upload and from the try-on',
    async (warning) => {
      const uploaded = (await upload(`test_warning_${warning}`)).body
      expect(uploaded).toMatchObject({ warnings: [warning], personDetected: warning !== 'no_person', crop: null })
      const { body } = await tryOn('/tryon/v1/try-on', `test_warning_${warning}`)
      expect(await ended(body.generationId)).toMatchObject({ status: 'COMPLETED', warnings: [warning] })
    },
  )

  it('gets the warnings of a photo for any image, even one that is black and white', async () => {
    const image = sharp({ create: { width: 100, height: 125, channels: 3, background: '#fff' } })
    const { body } = await upload('test_warning_no_person', await image.png().toBuffer())
    expect(body).toMatchObject({ warnings: ['no_person'], personDetected: false })
  })

  it('can upload the photo of an end user whose try-on will fail', async () => {
    for (const input of ['test_RESULT_REJECTED', 'test_INSUFFICIENT_CREDITS', 'test_delay_30s']) {
      const { status, body } = await upload(input)
      expect([status, body.warnings]).toEqual([201, []])
    }
  })

  it('keeps refusals out of metrics and of the errors in the log, and stores none under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once', 'x-drape-test': 'test_INTERNAL_ERROR' }
    const body = {
      products: [{ images: [{ source: { url: 'https://shop.example/shirt.jpg' } }] }],
      person: { image: { source: { id: imageId } } },
    }
    expect((await drape.call('POST', '/tryon/v1/try-on', { key, body, headers })).status).toBe(500)
    const { 'x-drape-test': _, ...real } = headers
    expect((await drape.call('POST', '/tryon/v1/try-on', { key, body, headers: real })).status).toBe(201)
    const metrics = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
    expect(metrics).toMatch(/drape_http_requests_total\{[^}]*status="201"\} [1-9]/)
    expect(metrics).not.toMatch(/drape_http_requests_total\{[^}]*status="5\d\d"\} [1-9]/)
    expect(drape.api.output()).not.toContain('request failed')
  })

  it('is required for test inputs', async () => {
    const headers = { 'x-drape-test': 'test_INTERNAL_ERROR' }
    expect((await drape.call('GET', '/tryon/v1/account', { headers })).status).toBe(200)
    const path = '/tryon/v1/generations/test_RATE_LIMITED'
    expect((await drape.call('GET', path)).body.code).toBe('GENERATION_NOT_FOUND')
  })

  it('gets the error of a missing scope before that of a test input', async () => {
    const restricted = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
      ...UNRESTRICTED,
      isTest: true,
      scopes: ['read'],
    })
    const answer = await tryOn('/tryon/v1/try-on', 'test_RATE_LIMITED', restricted.key)
    expect(answer.body.code).toBe('FORBIDDEN')
  })
})
