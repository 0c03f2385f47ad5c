import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { NEUTRAL_TEXTS } from '../../api/consents/neutral-policy.ts'
import { ROUTES } from '../../api/http/core-routes.ts'
import { createDocument } from '../../api/http/openapi/document.ts'
import { FAILURE_CODES } from '../../api/shared/contract/error-codes.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { BUILT_WIDGET } from '../../scripts/widgets/build.ts'
import { openDocument } from '../support/openapi-document.ts'

type Texts = Readonly<Record<string, string | Readonly<Record<string, string>>>>

const built = readFileSync(BUILT_WIDGET, 'utf8')

describe('the widget script', () => {
  it('is smaller than 25 kB gzipped', () => {
    expect(gzipSync(built, { level: 9 }).length).toBeLessThan(25_000)
  })

  it('uses no API that a strict content security policy blocks', () => {
    expect(built).not.toMatch(
      /\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write|\.style\b|setAttribute\(["'`]style/,
    )
  })

  it('contains no URL of another host', () => {
    expect([...built.matchAll(/https?:\/\/[\w.-]+/g)].map(String)).toEqual(['http://www.w3.org'])
  })
})

describe('the widget texts', () => {
  const files = globSync('api/widget/texts/*.json', { cwd: ROOT }).sort()
  const read = (path: string): Texts => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
  const english = flat(read('api/widget/texts/en.json'))

  it('exist in 8 languages, as does the policy of shops that have published none', () => {
    const languages = ['ar', 'de', 'en', 'es', 'fr', 'it', 'pl', 'pt']
    expect(files.map((path) => basename(path, '.json'))).toEqual(languages)
    expect(Object.keys(NEUTRAL_TEXTS).toSorted()).toEqual(languages)
  })

  it('are in the script only in English; other languages are fetched', () => {
    for (const path of files)
      expect(built.includes(read(path).photoHint as string), path).toBe(path.endsWith('/en.json'))
  })

  it('have one for every error code that a shopper can encounter', () => {
    const { operations } = openDocument(createDocument(ROUTES, { publicUrl: '', serviceName: 'Drape' }))
    const used = operations.filter(({ path }) => path.startsWith('/public/') && !path.startsWith('/public/tracking'))
    const codes = new Set([
      ...used.flatMap(({ answers }) => [...answers.values()].flatMap((answer) => answer.codes)),
      ...FAILURE_CODES,
    ])
    // Codes of a broken page or service: the shopper can only retry, as the text of UNEXPECTED says.
    const unexpected = [
      'INVALID_API_KEY',
      'VALIDATION_FAILED',
      'FILE_REQUIRED',
      'HEADERS_TOO_LARGE',
      'METHOD_NOT_ALLOWED',
      'ROUTE_NOT_FOUND',
      'IDEMPOTENCY_KEY_REUSED',
      'INTERNAL_ERROR',
    ]
    const { errors } = read('api/widget/texts/en.json')
    const same = read('api/widget/same-words.json')
    expect(codes.size).toBeGreaterThan(20)
    const withoutText = [...codes].filter(
      (code) => !(code in (errors as object) || code in same || unexpected.includes(code)),
    )
    expect(withoutText, 'add them to "errors" of api/widget/texts/*.json or to api/widget/same-words.json').toEqual([])
    const withoutTarget = Object.values(same).filter((code) => !(String(code) in (errors as object)))
    expect(withoutTarget, 'values of api/widget/same-words.json that api/widget/texts/en.json lacks').toEqual([])
  })

  it.each(files)('%s has the keys and placeholders of the English texts', (path) => {
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
