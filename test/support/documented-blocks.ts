import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MarkdownIt from 'markdown-it'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'

/** A code block of a page. */
export interface Block {
  /** The heading above it. */
  readonly heading: string
  /** Language of the fence; `indented` for a block without a fence. */
  readonly language: string
  readonly text: string
}

const markdown = new MarkdownIt()

/** The code blocks of a page in order, including those in lists. `page` is its path from the root of the clone. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  const tokens = markdown.parse(readFileSync(join(ROOT, page), 'utf8'), {})
  for (const [index, { type, info, content }] of tokens.entries()) {
    if (type === 'heading_open') heading = tokens[index + 1].content
    if (type === 'fence') blocks.push({ heading, language: info, text: content })
    if (type === 'code_block') blocks.push({ heading, language: 'indented', text: content })
  }
  return blocks
}

/** What stands between backticks in the sentences of a page. */
export function codeSpansOf(page: string): string[] {
  const tokens = markdown.parse(readFileSync(join(ROOT, page), 'utf8'), {})
  const parts = tokens.flatMap(({ children }) => children ?? [])
  return parts.filter(({ type }) => type === 'code_inline').map(({ content }) => content)
}

/** The nth block of commands below a heading. Throws if the page has no such block. */
export function commandsOf(page: string, heading: string, index = 0): string {
  return codeOf(page, 'sh', { heading, index })
}

/**
 * Runs the commands of a block in the folder and returns their output. Programs of `scripts` are those of the clone; `placeholders`
 * replaces other texts of the page. Throws at the first command that fails.
 */
export function runCommands(
  commands: string,
  {
    folder,
    placeholders = {},
    env = process.env,
  }: { folder: string; placeholders?: Readonly<Record<string, string>>; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const script = Object.entries(placeholders).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The block does not contain ${from}`)
    return text.replaceAll(from, to)
  }, commands)
  const text = script.replaceAll(/^scripts\//gm, `${ROOT}/scripts/`)
  return run('bash', ['--norc', '-euo', 'pipefail', '-c', text], { cwd: folder, env })
}

/** The nth block of a language on a page, or below one of its headings. Throws if the page has no such block. */
export function codeOf(page: string, language: string, { heading, index = 0 }: Partial<Place> = {}): string {
  const blocks = blocksOf(page).filter(
    (block) => block.language === language && (heading === undefined || block.heading === heading),
  )
  if (blocks[index] === undefined)
    throw new Error(`${page} has no block ${index} of ${language} below "${heading ?? ''}"`)
  return blocks[index].text
}

interface Place {
  readonly heading: string
  readonly index: number
}
