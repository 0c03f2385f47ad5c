import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { BUILT_IN_ENGINES } from '../shared/engines/engine-catalogue.ts'

/** A page of the repository. */
export interface Source {
  /** Path in the repository, e.g. `docs/webhooks.md`. */
  readonly file: string
  /** Path in the site, e.g. `/guide/webhooks`. */
  readonly path: string
  readonly section: string
  readonly text: string
  /** The deepest headings that the search lists: 2 for `##`. Default 6. */
  readonly maxSearchedLevel?: number
}

/** Folders of pages, which the container image of the API includes. */
const FOLDERS = {
  'docs/': new URL('../../docs/', import.meta.url),
  'charts/drape/docs/': new URL('../../charts/drape/docs/', import.meta.url),
} as const

export const GALLERY = new URL('../../docs/gallery/', import.meta.url)

/** Pages by section, in the order of the navigation. All pages of the chart and the built-in engines are included. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  Start: ['docs/index.md', 'docs/start/api.md', 'docs/start/shop.md', 'docs/start/platform.md', 'docs/cookbook.md'],
  'Call the API': [
    'docs/api.md',
    'docs/errors.md',
    'docs/images.md',
    'docs/webhooks.md',
    'docs/test-mode.md',
    'docs/deprecation.md',
  ],
  'Integrate a shop': ['docs/widget.md', 'docs/shops.md', 'docs/signing.md', 'docs/gallery.md'],
  Operate: [
    'docs/configuration.md',
    'docs/compatibility.md',
    'docs/dashboard.md',
    'docs/retention.md',
    'docs/erasure.md',
    'docs/removal.md',
    'docs/security.md',
    'docs/safety.md',
    'docs/provenance.md',
    'docs/privacy.md',
  ],
  Kubernetes: pagesIn('charts/drape/docs/'),
  Engines: BUILT_IN_ENGINES.map((name) => `docs/engines/${name}.md`).filter((file) => existsSync(urlOf(file))),
  Contribute: ['docs/contributing.md'],
}

/** The existing pages with their texts. */
export function readSources(): Source[] {
  return Object.entries(SECTIONS).flatMap(([section, files]) =>
    files.map((file) => ({ file, section, path: pathOf(file), text: readFileSync(urlOf(file), 'utf8') })),
  )
}

function pagesIn(folder: string): string[] {
  const names = readdirSync(urlOf(folder)).filter((name) => name.endsWith('.md'))
  return names.sort().map((name) => `${folder}${name}`)
}

function urlOf(path: string): URL {
  const [folder, url] = Object.entries(FOLDERS).find(([name]) => path.startsWith(name)) ?? ['', FOLDERS['docs/']]
  return new URL(path.slice(folder.length), url)
}

/** `docs/start/api.md` → `/guide/start/api`; `docs/index.md` → `/guide`. */
function pathOf(file: string): string {
  if (file === 'docs/index.md') return '/guide'
  return `/guide/${file
    .replace(/^charts\/drape\/docs\//, 'kubernetes/')
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')}`
}
