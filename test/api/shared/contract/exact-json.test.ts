import { describe, expect, it } from 'vitest'
import { isRawNumber, parseExactJson } from '../../../../api/shared/contract/exact-json.ts'

const LONG = '12345678901234567890'

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

  it.each([`0${LONG}`, `${LONG}.`, `--${LONG}`, `${LONG}e`, `{${LONG}:1}`, `[${LONG},]`, `"${LONG}`])(
    'refuses invalid JSON: %s',
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError)
    },
  )
})
