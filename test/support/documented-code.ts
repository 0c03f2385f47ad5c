import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonWithout } from './missing.ts'

/** How code of the documentation runs, by the language of its block. */
const PROGRAMS = {
  ts: { command: [process.execPath], file: 'code.ts' },
  python: { command: ['python3'], file: 'code.py' },
  php: { command: ['php'], file: 'code.php' },
  ruby: { command: ['ruby'], file: 'code.rb' },
} as const
export type Language = keyof typeof PROGRAMS

export const LANGUAGES = Object.keys(PROGRAMS) as Language[]

/** Why code of each of these languages cannot run on this machine, after an attempt to install it; empty when it can. */
export async function findMissingLanguages<L extends Language>(languages: readonly L[]): Promise<Record<L, string>> {
  const reasons: [L, string][] = []
  for (const language of languages) reasons.push([language, language === 'ts' ? '' : await reasonWithout(language)])
  return Object.fromEntries(reasons) as Record<L, string>
}

/**
 * Runs the only block of the language in the page, followed by a driver that reads JSON from standard input and writes JSON. Returns
 * the output of the driver.
 */
export async function runDocumented(
  page: string,
  { language, driver, folder, input }: { language: Language; driver: string; folder: string; input: unknown },
): Promise<unknown> {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))]
  if (blocks.length !== 1) throw new Error(`The page has ${blocks.length} blocks in ${language}`)
  const { command, file } = PROGRAMS[language]
  const path = join(folder, file)
  await writeFile(path, blocks[0][1] + driver)
  const [program, ...args] = command
  return JSON.parse(execFileSync(program, [...args, path], { input: JSON.stringify(input), encoding: 'utf8' }))
}
