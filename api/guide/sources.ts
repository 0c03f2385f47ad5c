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

const ROOT = new URL('../../', import.meta.url)

export const DOCS = new URL('docs/', ROOT)

/**
 * Pages by section, in the order of the navigation: all that README.md names, with all pages of the chart and the built-in engines. The
 * Containerfile copies them into the image of the API.
 */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  Start: ['docs/index.md', 'docs/start/api.md', 'docs/start/shop.md', 'docs/start/platform.md', 'docs/cookbook.md'],
  'Call the API': [
    'docs/api.md',
    'docs/errors.md',
    'docs/images.md',
    'docs/webhooks.md',
    'docs/test-mode.md',
    'docs/deprecation.md',
    'api/client/README.md',
    'clients/python/README.md',
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
  Kubernetes: ['charts/drape/README.md', ...pagesIn('charts/drape/docs/')],
  Runbooks: pagesIn('charts/drape/runbooks/'),
  Engines: BUILT_IN_ENGINES.map((name) => `docs/engines/${name}.md`).filter((file) => existsSync(urlOf(file))),
  Contribute: ['docs/contributing.md', 'docs/engines/flux-2-klein.md', 'scripts/benchmarks/README.md', 'CHANGELOG.md'],
}

/** The existing pages with their texts. */
export function readSources(): Source[] {
  return Object.entries(SECTIONS).flatMap(([section, files]) =>
    files.map((file) => ({ file, section, path: pathOf(file), text: readFileSync(urlOf(file), 'utf8') })),
  )
}

function pagesIn(folder: string): string[] {
  const names = readdirSync(urlOf(folder)).filter((name) => name.endsWith('.md'))
  // README.md first.
  return names.sort().map((name) => `${folder}${name}`)
}

function urlOf(path: string): URL {
  return new URL(path, ROOT)
}

/** Pages whose path in the site is not that in `docs`. */
const PATHS: Readonly<Record<string, string>> = {
  'docs/index.md': '/guide',
  'api/client/README.md': '/guide/clients/typescript',
  'clients/python/README.md': '/guide/clients/python',
  'charts/drape/README.md': '/guide/kubernetes/chart',
  'charts/drape/runbooks/README.md': '/guide/runbooks',
  'scripts/benchmarks/README.md': '/guide/benchmarks',
  'CHANGELOG.md': '/guide/changelog',
}

/** `docs/start/api.md` → `/guide/start/api`. */
function pathOf(file: string): string {
  const named = file
    .replace(/^charts\/drape\/docs\//, 'kubernetes/')
    .replace(/^charts\/drape\//, '')
    .replace(/^docs\//, '')
  return PATHS[file] ?? `/guide/${named.replace(/\.md$/, '')}`
}
