import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../api/http/core-routes.ts'
import { createDocument } from '../../../api/http/openapi/document.ts'
import { FAILURE_CODES } from '../../../api/shared/contract/error-codes.ts'
import { encodeImage } from '../../../api/shared/image/image.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { type Drape, startDrape } from '../../support/drape.ts'
import { openDocument } from '../../support/openapi-document.ts'

const { explainSize } = await import(new URL('../../../api/playground/browser/image-size.js', import.meta.url).href)
const PNG = { format: 'png' } as const

describe('the page of the playground', () => {
  let drape: Drape
  let page: string
  let policy: string

  beforeAll(async () => {
    drape = await startDrape({ env: { SERVICE_NAME: 'Tom & <b>Co</b>' } })
    const answer = await get('/playground')
    page = await answer.text()
    policy = answer.headers.get('content-security-policy') ?? ''
  })
  afterAll(() => drape.stop())

  const get = (path: string) => fetch(`${drape.api.url}${path}`)
  const addresses = () => [...page.matchAll(/(?:src|href|data-url)="([^"#]+)"/g)].map(([, address]) => address)

  it('allows only its own resources, and images from the storage', () => {
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `img-src 'self' blob: ${drape.api.url}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
  })

  it('has no inline script, and no form field that could send the key', () => {
    expect(page).not.toMatch(/<script[^>]*>[^<]|<style| style=| on\w+=/)
    expect(page).not.toContain('<b>Co')
    expect(page).toMatch(/<input id="key" type="password"(?![^>]* name=)/)
    expect(addresses().filter((address) => !/^\/[^/]/.test(address))).toEqual([])
  })

  it('defaults to the engine of the account, and offers all engines', () => {
    expect(page).toContain('<option value="" selected>account default</option><option value="warp">')
    expect(page).toContain('<option value="mock">mock</option>')
  })

  it('has a label for people for every option of the API', async () => {
    const { body } = await drape.call('GET', '/tryon/v1/openapi.json', { key: null })
    const offered = ['crop', ...Object.keys(body.components.schemas.TryOn.properties.output.properties)]
    const shown = [...page.matchAll(/<label for="option-(\w+)">([^<]+)<\/label>/g)]
    // A mask is an image.
    expect(new Set(shown.map(([, name]) => name))).toEqual(new Set(offered.filter((name) => name !== 'mask')))
    const unlabelled = shown.filter(([, name, label]) => label === name)
    expect(unlabelled, 'add them to LABELS of api/playground/option-fields.ts').toEqual([])
  })

  it('has a text for every error code that its calls can get', async () => {
    const { operations } = openDocument(createDocument(ROUTES, { publicUrl: '', serviceName: 'Drape' }))
    const calls = operations.filter(
      ({ id, path }) =>
        /^\/tryon\/v1\/(account|engines|images|try-on|outfits|generations)/.test(path) && !/Appeal/.test(id),
    )
    const codes = new Set([
      ...calls.flatMap(({ answers }) => [...answers.values()].flatMap((answer) => answer.codes)),
      ...FAILURE_CODES,
    ])
    expect(codes.size).toBeGreaterThan(20)
    const source = await readFile(join(ROOT, 'api/playground/browser/problems.js'), 'utf8')
    const explained = source.match(/^ {2}[A-Z_]+(?=: \[)/gm)?.map((code) => code.trim()) ?? []
    const unexplained = [...codes].filter((code) => !explained.includes(code))
    expect(unexplained, 'add them to EXPLAINED of api/playground/browser/problems.js').toEqual([])
  })

  it('serves immutable files, and the client as JavaScript', async () => {
    const files = new Set(addresses().filter((address) => address.startsWith('/playground/')))
    expect(files.size).toBeGreaterThan(12)
    for (const path of files) {
      const answer = await get(path)
      expect([answer.status, answer.headers.get('cache-control')], path).toEqual([
        200,
        expect.stringContaining('immutable'),
      ])
      expect(answer.headers.get('content-type'), path).toMatch(
        /^(text\/(css|javascript); charset=utf-8|image\/(jpeg|svg\+xml))$/,
      )
    }
    const folder = page.match(/\/playground\/\w+\//)?.[0]
    const client = await (await get(`${folder}client/connection.ts`)).text()
    expect(client).toContain('export function createConnection(options')
    expect(client).not.toMatch(/interface|: string/)
  })

  it('has no other files', async () => {
    const folder = page.match(/\/playground\/\w+\//)?.[0]
    const others = [
      'page.ts',
      '..%2fpage.ts',
      'client/node.ts',
      'client/tsconfig.json',
      'samples/astronaut.jpg',
      'constructor',
    ]
    for (const path of [...others.map((file) => `${folder}${file}`), '/playground/old/playground.js']) {
      expect((await get(path)).status, path).toBe(404)
    }
  })

  it.each([
    [15, 300, 'An image is too small'],
    [16, 161, 'An image is too narrow'],
    [12_001, 2000, 'An image has too many pixels'],
  ])('explains that the service refuses %i × %i pixels: %s', async (width, height, title) => {
    const bytes = await encodeImage({ width, height, channels: 3, data: new Uint8Array(width * height * 3) }, PNG)
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(bytes)]))
    const { status, body } = await drape.call('POST', '/tryon/v1/images/upload', { body: form })
    expect([status, body.code]).toEqual([400, 'INVALID_IMAGE'])
    expect(explainSize('INVALID_IMAGE', { width, height })).toMatchObject({ title })
  })

  it('does not blame the size of an image that is damaged, or large enough to show a person', () => {
    expect(explainSize('INVALID_IMAGE', { width: 16, height: 160 })).toBeNull()
    expect(explainSize('INVALID_IMAGE', null)).toBeNull()
    expect(explainSize('NO_PERSON_DETECTED', { width: 200, height: 300 })).toBeNull()
    expect(explainSize('NO_PERSON_DETECTED', { width: 199, height: 300 })).toMatchObject({
      title: 'The photo is too small',
      advice: expect.stringContaining('199 × 300 pixels'),
    })
    expect(explainSize('SERVICE_UNAVAILABLE', { width: 1, height: 1 })).toBeNull()
  })
})
