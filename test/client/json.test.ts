import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toJson } from '../../api/client/json.ts'

const { parse, stringify } = JSON

describe('toJson', () => {
  it('writes what JSON.stringify writes', () => {
    const member = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant(undefined), fc.date())
    const value = fc.oneof(member, fc.array(member), fc.dictionary(fc.string(), member))
    const isSame = (one: unknown) =>
      stringify(parse(toJson(one) ?? 'null')) === stringify(parse(stringify(one) ?? 'null'))
    fc.assert(fc.property(value, isSame), { numRuns: 50 })
    const odd = {
      url: new URL('http://shop.example'),
      call: () => 1,
      list: [undefined],
      not: Number.NaN,
      '\ud800"\\\n': 1,
    }
    expect(isSame(odd)).toBe(true)
    expect(toJson('\ud800\u0000')).toBe('"\\ud800\\u0000"')
  })

  it('does not use what scripts of a page replace', () => {
    const value = { list: ['a', { b: 1 }], at: new Date(0), text: 'é"' }
    const expected = stringify(value)
    const toDateJson = Date.prototype.toJSON
    const prototypes = [Array, Object, String, Number, Date].map(({ prototype }) => prototype)
    for (const prototype of prototypes) {
      Reflect.defineProperty(prototype, 'toJSON', { value: () => 'patched', configurable: true, writable: true })
    }
    JSON.stringify = () => 'patched'
    const written = toJson(value)
    JSON.stringify = stringify
    for (const prototype of prototypes) Reflect.deleteProperty(prototype, 'toJSON')
    Reflect.defineProperty(Date.prototype, 'toJSON', { value: toDateJson, configurable: true, writable: true })
    expect(parse(written ?? '')).toEqual(parse(expected))
  })
})
