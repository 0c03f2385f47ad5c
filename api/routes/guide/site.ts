import { readdirSync, readFileSync } from 'node:fs'
import { createLinks, markdownPathOf, rewriteLinks } from './links.ts'
import { renderPage } from './markdown.ts'
import { presentGuidePage } from './page.ts'
import { PICTURES, readSources } from './sources.ts'

export interface SiteOptions {
  readonly serviceName: string
  readonly publicUrl: string
}

export interface SiteFile {
  readonly type: string
  readonly body: string | Buffer
}

const BROWSER = new URL('browser/', import.meta.url)
const SEARCH_ENGINE = new URL(import.meta.resolve('minisearch'))

/** Every file of the site by its path: pages as HTML and as Markdown, what they load, the texts for the search, and `llms.txt`. */
export function createSite({ serviceName, publicUrl }: SiteOptions): ReadonlyMap<string, SiteFile> {
  const sources = readSources()
  const [linkOf, markdownLinkOf] = [createLinks(sources), createLinks(sources, '.md')]
  const pages = sources.map((source) => ({ ...source, ...renderPage(source, linkOf) }))
  const files = new Map<string, SiteFile>(readAssets())
  for (const page of pages) {
    const markdownPath = markdownPathOf(page.path)
    const body = presentGuidePage({ serviceName, page, markup: page.markup, markdownPath, pages })
    files.set(page.path, { type: 'text/html', body })
    files.set(markdownPath, { type: 'text/markdown', body: rewriteLinks(page, markdownLinkOf) })
  }
  const texts = pages.flatMap(({ path, title, sections }) =>
    sections.map(({ anchor, heading, text }) => ({ id: `${path}#${anchor}`, title, heading, text })),
  )
  files.set('/guide/search.json', { type: 'application/json', body: JSON.stringify(texts) })
  files.set('/guide/llms.txt', { type: 'text/plain', body: presentIndex(pages, { serviceName, publicUrl }) })
  return files
}

interface IndexedPage {
  readonly path: string
  readonly section: string
  readonly title: string
  readonly summary: string
}

/** The list of pages that language models read, in the form of llmstxt.org. */
function presentIndex(pages: readonly IndexedPage[], { serviceName, publicUrl }: SiteOptions): string {
  const sections = [...Map.groupBy(pages, ({ section }) => section)].map(([section, members]) => {
    const lines = members.map(
      ({ path, title, summary }) => `- [${title}](${publicUrl}${markdownPathOf(path)}): ${summary}`,
    )
    return `## ${section}\n\n${lines.join('\n')}\n`
  })
  const reference = `## Reference\n\n- [OpenAPI document](${publicUrl}/tryon/v1/openapi.json): every operation, with examples\n`
  return [
    `# ${serviceName}\n\n> Virtual try-on: an image of a person wearing a product.\n`,
    ...sections,
    reference,
  ].join('\n')
}

function readAssets(): [string, SiteFile][] {
  const script = {
    type: 'text/javascript',
    body: readFileSync(SEARCH_ENGINE, 'utf8').replace(/^\/\/# sourceMappingURL.*$/m, ''),
  }
  return [
    ['/guide/assets/guide.css', { type: 'text/css', body: readFileSync(new URL('guide.css', BROWSER), 'utf8') }],
    ['/guide/assets/search.js', { type: 'text/javascript', body: readFileSync(new URL('search.js', BROWSER), 'utf8') }],
    ['/guide/assets/minisearch.js', script],
    ...readdirSync(PICTURES).map((name): [string, SiteFile] => [
      `/guide/gallery/${name}`,
      { type: 'image/jpeg', body: readFileSync(new URL(name, PICTURES)) },
    ]),
  ]
}
