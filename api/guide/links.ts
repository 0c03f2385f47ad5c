import { posix } from 'node:path'
import type { Source } from './sources.ts'

/** Target of a page's link in the site; null for files of the repository that are not pages. */
export type LinkOf = (target: string, from: Source) => string | null

export function createLinks(sources: readonly Source[], suffix = ''): LinkOf {
  const paths = new Map(sources.map(({ file, path }) => [file, path]))
  return (target, { file }) => {
    if (/^(https?:|mailto:|#|\/)/.test(target)) return target
    const [name, fragment] = target.split('#')
    const found = posix.join(posix.dirname(file), name)
    const served = /^docs\/([\w/-]+\.(?:jpg|json))$/.exec(found)?.[1]
    if (served !== undefined) return `/guide/${served}`
    const path = paths.get(found)
    if (path === undefined) return null
    return `${markdownPathOf(path, suffix)}${fragment === undefined ? '' : `#${fragment}`}`
  }
}

/** The Markdown of a page with links to the Markdown of other pages; links to files that are not pages become their text. */
export function rewriteLinks(source: Source, linkOf: LinkOf): string {
  return source.text.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_, text, target) => {
    const link = linkOf(target, source)
    return link === null ? text : `[${text}](${link})`
  })
}

/** The Markdown of `/guide` is `/guide/index.md`, that of `/docs` is `/docs/index.md`. */
export function markdownPathOf(path: string, suffix = '.md'): string {
  return ['/guide', '/docs'].includes(path) && suffix !== '' ? `${path}/index${suffix}` : `${path}${suffix}`
}
