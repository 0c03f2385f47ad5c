import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../scripts/stack/session.ts'
import { BUILT_WIDGET, buildWidget } from '../../scripts/widgets/build.ts'

type Texts = Readonly<Record<string, string | Readonly<Record<string, string>>>>

const built = readFileSync(BUILT_WIDGET, 'utf8')

describe('the script of the widget', () => {
  it('is what its sources say: scripts/widget build was run after the last change', async () => {
    expect((await buildWidget()) === built).toBe(true)
  })

  it('takes less than 25 kB on its way', () => {
    expect(gzipSync(built, { level: 9 }).length).toBeLessThan(25_000)
  })

  it('makes nothing of text that a strict page forbids', () => {
    expect(built).not.toMatch(
      /\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write|\.style\b|setAttribute\(["'`]style/,
    )
  })

  it('knows no address but those of its page and its service', () => {
    expect([...built.matchAll(/https?:\/\/[\w.-]+/g)].map(String)).toEqual(['http://www.w3.org'])
  })
})

describe('the texts of the widget', () => {
  const files = globSync('api/widget/texts/*.json', { cwd: ROOT }).sort()
  const read = (path: string): Texts => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
  const english = flat(read('api/widget/texts/en.json'))

  it('are in eight languages', () => {
    expect(files.map((path) => basename(path, '.json'))).toEqual(['ar', 'de', 'en', 'es', 'fr', 'it', 'pl', 'pt'])
  })

  it('are fetched in all languages but English, which the script has', () => {
    for (const path of files)
      expect(built.includes(read(path).photoHint as string), path).toBe(path.endsWith('/en.json'))
  })

  it.each(files)('%s says all that the English ones say, with the same gaps', (path) => {
    const texts = flat(read(path))
    expect(Object.keys(texts)).toEqual(Object.keys(english))
    for (const [key, text] of Object.entries(texts)) {
      expect(text.trim(), key).not.toBe('')
      expect(text.match(/\{\w+\}/g), key).toEqual(english[key].match(/\{\w+\}/g))
    }
  })
})

function flat(texts: Texts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([key, value]) =>
      typeof value === 'string'
        ? [[key, value]]
        : Object.entries(value).map(([inner, text]) => [`${key}.${inner}`, text]),
    ),
  )
}
