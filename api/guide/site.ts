import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { pageStyle } from '../http/answers/page-style.ts'
import { presentReference } from '../http/openapi/reference/pages.ts'
import { createLinks, markdownPathOf, rewriteLinks } from './links.ts'
import { anchorOf, renderPage } from './markdown.ts'
import { presentGuidePage } from './page.ts'
import { DOCS, readSources, type Source } from './sources.ts'

export interface SiteOptions {
  readonly serviceName: string
  readonly publicUrl: string
  /** The OpenAPI document, which the reference shows. */
  readonly document: object
}

export interface SiteFile {
  readonly type: string
  readonly body: string | Buffer
}

const BROWSER = new URL('browser/', import.meta.url)
const SEARCH_ENGINE = new URL(import.meta.resolve('minisearch'))

/** Files of the site by path: pages as HTML and as Markdown, their assets, the search texts, and `llms.txt`. */
export function createSite({ serviceName, publicUrl, document }: SiteOptions): ReadonlyMap<string, SiteFile> {
  const sources = readSources()
  const place = sources.findLastIndex(({ section }) => section === 'Call the API') + 1
  sources.splice(place, 0, ...createReference(document))
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

function createReference(document: object): Source[] {
  return presentReference(document, anchorOf).map(({ path, markdown }) => {
    return { file: `docs${path}.md`, path, section: 'API reference', text: markdown, maxSearchedLevel: 2 }
  })
}

interface IndexedPage {
  readonly path: string
  readonly section: string
  readonly title: string
  readonly summary: string
}

/** List of pages for language models, in the format of llmstxt.org. */
function presentIndex(
  pages: readonly IndexedPage[],
  { serviceName, publicUrl }: Pick<SiteOptions, 'serviceName' | 'publicUrl'>,
): string {
  const sections = [...Map.groupBy(pages, ({ section }) => section)].map(([section, members]) => {
    const lines = members.map(
      ({ path, title, summary }) => `- [${title}](${publicUrl}${markdownPathOf(path)}): ${summary}`,
    )
    return `## ${section}\n\n${lines.join('\n')}\n`
  })
  const machines = `## For programs\n\n- [OpenAPI document](${publicUrl}/tryon/v1/openapi.json): every operation, with examples\n`
  return [
    `# ${serviceName}\n\n> Virtual try-on: an image of a person wearing a product.\n`,
    ...sections,
    machines,
  ].join('\n')
}

/** Of the files below `docs` beside the pages: images, and vectors that pages link to. */
const FILE_TYPES: Readonly<Record<string, string>> = { '.jpg': 'image/jpeg', '.json': 'application/json' }

function readAssets(): [string, SiteFile][] {
  const script = {
    type: 'text/javascript',
    body: readFileSync(SEARCH_ENGINE, 'utf8').replace(/^\/\/# sourceMappingURL.*$/m, ''),
  }
  return [
    [
      '/guide/assets/guide.css',
      { type: 'text/css', body: pageStyle(readFileSync(new URL('guide.css', BROWSER), 'utf8')) },
    ],
    ['/guide/assets/guide.js', { type: 'text/javascript', body: readFileSync(new URL('guide.js', BROWSER), 'utf8') }],
    ['/guide/assets/minisearch.js', script],
    ...readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).flatMap((name): [string, SiteFile][] => {
      const type = FILE_TYPES[extname(name)]
      return type === undefined ? [] : [[`/guide/${name}`, { type, body: readFileSync(new URL(name, DOCS)) }]]
    }),
  ]
}
