import GithubSlugger from 'github-slugger'
import MarkdownIt, { type Token } from 'markdown-it'
import type { LinkOf } from './links.ts'
import type { Source } from './sources.ts'

export interface RenderedPage {
  readonly title: string
  /** The first paragraph as plain text. */
  readonly summary: string
  readonly markup: string
  readonly sections: readonly PageSection[]
}

/** The text below one heading, for the search. */
export interface PageSection {
  readonly anchor: string
  readonly heading: string
  readonly text: string
}

// HTML in Markdown is shown as text.
const markdown = new MarkdownIt({ html: false })
// Wide tables scroll separately, also with the keyboard.
markdown.renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>\n'
markdown.renderer.rules.table_close = () => '</table></div>\n'
// Long names of fields break after a dot.
markdown.renderer.rules.code_inline = (tokens, place) =>
  `<code>${markdown.utils.escapeHtml(tokens[place].content).replaceAll(/(?<=[.\]/])(?=\w)/g, '<wbr>')}</code>`

/** The anchor of a heading that no other heading of its page repeats. */
export function anchorOf(heading: string): string {
  return new GithubSlugger().slug(heading)
}

/** Renders Markdown as HTML: headings have the same anchors as on GitHub, and links lead to pages of the site. */
export function renderPage(source: Source, linkOf: LinkOf): RenderedPage {
  const { maxSearchedLevel = 6 } = source
  const tokens = markdown.parse(source.text, {})
  const slugger = new GithubSlugger()
  const sections: { anchor: string; heading: string; text: string }[] = []
  tokens.forEach((token, place) => {
    if (token.type === 'fence') token.attrSet('tabindex', '0')
    if (token.type === 'inline') rewriteInlineLinks(token, (target) => linkOf(target, source))
    if (token.type === 'heading_open') {
      const heading = textOf(tokens[place + 1])
      const anchor = slugger.slug(heading)
      token.attrSet('id', anchor)
      if (Number(token.tag.slice(1)) <= maxSearchedLevel) sections.push({ anchor, heading, text: '' })
    } else if (tokens[place - 1]?.type !== 'heading_open') {
      const section = sections.at(-1)
      if (section !== undefined) section.text = `${section.text} ${textOf(token)}`.trim()
    }
  })
  const first = tokens.findIndex(({ type }) => type === 'paragraph_open')
  return {
    title: sections[0]?.heading ?? source.path,
    summary: first === -1 ? '' : textOf(tokens[first + 1]),
    markup: markdown.renderer.render(tokens, markdown.options, {}),
    sections,
  }
}

/** Replaces a link to a file that is not a page by its text. */
function rewriteInlineLinks(inline: Token, linkOf: (target: string) => string | null): void {
  let isHidden = false
  for (const token of inline.children ?? []) {
    if (token.type === 'image') token.attrSet('src', linkOf(String(token.attrGet('src'))) ?? '')
    if (token.type === 'link_open') {
      const link = linkOf(String(token.attrGet('href')))
      isHidden = link === null
      token.attrSet('href', link ?? '')
    }
    if (token.type.startsWith('link_')) token.hidden = isHidden
  }
}

function textOf({ type, content, children }: Token): string {
  if (type === 'fence' || type === 'code_block') return content
  return (children ?? []).map((child) => (child.type === 'softbreak' ? ' ' : child.content)).join('')
}
