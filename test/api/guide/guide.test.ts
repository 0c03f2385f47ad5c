import { globSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { createLinks } from '../../../api/guide/links.ts'
import { createSite } from '../../../api/guide/site.ts'
import { readSources } from '../../../api/guide/sources.ts'
import { ROUTES } from '../../../api/http/core-routes.ts'
import { createDocument } from '../../../api/http/openapi/document.ts'
import { startDrape } from '../../support/drape.ts'

const ROOT = new URL('../../../', import.meta.url)
/** Of the service, beside the site. */
const SERVICE = ['/playground', '/llms.txt', '/tryon/v1/openapi.json', '/healthz']

describe('the documentation site', () => {
  const names = { serviceName: 'Tom & <b>Co</b>', publicUrl: 'https://try.example' }
  const document = createDocument(ROUTES, names)
  const site = createSite({ ...names, document })
  const textsOf = (type: string) =>
    [...site].filter(([, file]) => file.type === type).map(([path, { body }]) => ({ path, text: String(body) }))
  const pages = textsOf('text/html')

  it('has every page below docs and of the chart, and the reference, also as Markdown', () => {
    const files = [
      ...globSync(['docs/**/*.md', 'charts/drape/{docs,runbooks}/*.md', 'charts/drape/README.md'], { cwd: ROOT }),
      ...['api/client/README.md', 'clients/python/README.md', 'scripts/benchmarks/README.md', 'CHANGELOG.md'],
      ...['start of the reference', ...document.tags],
    ]
    expect(pages.length).toBe(files.length)
    expect(textsOf('text/markdown').length).toBe(files.length)
  })

  it('has every page that the README names', () => {
    const readme = readFileSync(new URL('README.md', ROOT), 'utf8')
    const named = [...readme.matchAll(/\]\(([^)\s]+\.md)\)/g)].map(([, path = '']) => path)
    const links = createLinks(readSources())
    const from = { file: 'README.md', path: '', section: '', text: '' }
    expect(named.filter((path) => !site.has(links(path, from) ?? ''))).toEqual([])
  })

  it('links only to existing pages, headings and images', () => {
    const isThere = (link: string) => {
      const [path, anchor] = link.split('#')
      if (SERVICE.includes(path)) return true
      const body = String(site.get(path)?.body ?? '')
      return body !== '' && (anchor === undefined || body.includes(` id="${anchor}"`))
    }
    const broken = pages.flatMap(({ path, text }) => {
      const links = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link)
      const near = links.filter((link) => !/^(https?|mailto|data):/.test(link))
      return near.map((link) => (link.startsWith('#') ? `${path}${link}` : link)).filter((link) => !isThere(link))
    })
    expect(broken).toEqual([])
  })

  it('links from Markdown to Markdown', () => {
    const markdown = String(site.get('/guide/index.md')?.body)
    expect(markdown).toContain('](/guide/kubernetes/install.md)')
    const links = textsOf('text/markdown').flatMap(({ text }) => [
      ...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#]+)/g),
    ])
    expect(links.length).toBeGreaterThan(40)
    expect(links.map(([, path]) => path).filter((path) => !site.has(path) && !SERVICE.includes(path))).toEqual([])
  })

  it('finds the text below every heading', () => {
    const texts = JSON.parse(String(site.get('/guide/search.json')?.body)) as { id: string; text: string }[]
    const webhooks = texts.filter(({ id }) => id.startsWith('/guide/webhooks#'))
    expect(webhooks.map(({ text }) => text).join(' ')).toContain('webhook-signature')
    expect(new Set(texts.map(({ id }) => id)).size).toBe(texts.length)
    expect(texts.filter(({ id }) => !site.has(id.split('#')[0]))).toEqual([])
  })

  it('lists every page in llms.txt', () => {
    const list = String(site.get('/guide/llms.txt')?.body)
    const listed = [...list.matchAll(/\]\(https:\/\/try\.example(\/(?:guide|docs)[^)]*)\)/g)].map(([, path]) => path)
    expect(listed.toSorted()).toEqual(
      textsOf('text/markdown')
        .map(({ path }) => path)
        .toSorted(),
    )
  })

  it('has no inline scripts and no external resources', () => {
    for (const { path, text } of pages) {
      expect(text, path).not.toMatch(/<script[^>]*>[^<]|<style|<[^>]* style=|<[^>]* on\w+=|<b>Co/)
      expect(text, path).not.toMatch(/(?:src|rel="stylesheet" href)="https?:/)
    }
  })

  it('keeps markup in Markdown as text', () => {
    expect(String(site.get('/guide/widget')?.body)).toContain('&lt;drape-try-on')
  })
})

describe('the API', async () => {
  const drape = await startDrape()
  afterAll(() => drape.stop())

  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${drape.api.url}${path}`, { headers })

  it.each([
    ['/guide', 'text/html; charset=utf-8'],
    ['/guide/', 'text/html; charset=utf-8'],
    ['/guide/webhooks', 'text/html; charset=utf-8'],
    ['/guide/webhooks.md', 'text/markdown; charset=utf-8'],
    ['/guide/assets/minisearch.js', 'text/javascript; charset=utf-8'],
    ['/guide/gallery/office-man--tshirt-navy.jpg', 'image/jpeg'],
    ['/llms.txt', 'text/plain; charset=utf-8'],
  ])('serves %s of the site', async (path, type) => {
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    const etag = answer.headers.get('etag') ?? ''
    // Without the second header fetch asks for a full answer.
    expect((await get(path, { 'if-none-match': etag, 'cache-control': 'max-age=0' })).status).toBe(304)
  })

  it('forbids external resources in pages', async () => {
    const policy = (await get('/guide')).headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
  })

  it.each(['/guide/none', '/guide/../package.json', '/guide/..%2f..%2fpackage.json', '/guide/constructor'])(
    'has no %s',
    async (path) => {
      expect((await get(path)).status).toBe(404)
    },
  )
})
