import { describe, expect, it } from 'vitest'
import { isRawNumber, parseExactJson } from '../../../../api/shared/contract/exact-json.ts'

const LONG = '12345678901234567890'
const outcome = (parse: (text: string) => unknown, text: string) => {
  try {
    return { value: parse(text) }
  } catch (error) {
    return { error: (error as Error).name }
  }
}
/** With every rounded number, so that it can be compared with what `JSON.parse` returns. */
const rounded = (value: unknown) => JSON.parse(JSON.stringify(value) ?? 'null')

describe('exact JSON', () => {
  it.each([
    LONG,
    `-${LONG}`,
    `[${LONG},${LONG}1]`,
    `{"a":{"__proto__":[-${LONG},1,{"b":0.${LONG}}]}}`,
    `{"${LONG}":"\\"${LONG},\\\\","\\"":${LONG},"c":"${LONG}"}`,
    `[true,${LONG},"a",1.${LONG}e10,1.${LONG}E-7,-0.0000000000000000]`,
  ])('keeps long numbers exact: %s', (text) => {
    expect(JSON.stringify(parseExactJson(text))).toBe(text)
  })

  it('keeps only numbers exact that would be rounded, so that others can be validated', () => {
    const [exact, raw, large] = parseExactJson(`[9007199254740992,9007199254740993,1${'0'.repeat(400)}]`) as unknown[]
    expect(exact).toBe(2 ** 53)
    expect(isRawNumber(raw)).toBe(true)
    expect(large).toBe(Number.POSITIVE_INFINITY)
    expect(JSON.stringify(parseExactJson(` \n{ "a" : ${LONG} , "a" : 1 }`))).toBe('{"a":1}')
  })

  it.each([
    ...[
      `0${LONG}`,
      `${LONG}.`,
      `.${LONG}`,
      `--${LONG}`,
      `+${LONG}`,
      `${LONG}e`,
      `${LONG}.1.1`,
      `1e${LONG}.1`,
      `e${LONG}`,
    ],
    ...[
      `{${LONG}:1}`,
      `{"a"${LONG}}`,
      `[${LONG} ${LONG}]`,
      `"${LONG}`,
      `"\\"${LONG}`,
      `[${LONG},]`,
      `true${LONG}`,
      `1-${LONG}`,
    ],
  ])('refuses invalid JSON: %s', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError)
  })

  it('reads any text like JSON.parse, apart from long numbers', () => {
    const tokens = [
      '"',
      '"',
      '\\',
      '\\\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '-',
      '0',
      '1.5',
      'e',
      'true',
      ' ',
      LONG,
      `"${LONG}"`,
    ]
    // Numbers that look random and are the same in every run.
    let seed = 1
    const next = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    let valid = 0
    for (let i = 0; i < 20_000; i++) {
      const inner = Array.from({ length: 1 + next(5) }, () => tokens[next(tokens.length)]).join('')
      const text = [inner, `[${inner}]`, `{"a":${inner}}`][next(3)]
      const expected = outcome(JSON.parse, text)
      const actual = outcome(parseExactJson, text)
      if ('value' in expected) valid++
      expect('value' in actual ? { value: rounded(actual.value) } : actual, text).toEqual(
        'value' in expected ? { value: rounded(expected.value) } : expected,
      )
    }
    expect(valid).toBeGreaterThan(500)
  })
})
