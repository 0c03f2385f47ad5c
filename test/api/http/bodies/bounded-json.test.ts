import { describe, expect, it } from 'vitest'
import { assertStorable, parseBoundedJson } from '../../../../api/http/bodies/bounded-json.ts'

function problemOf(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (error) {
    const [{ path, message }] = (error as { details: { path: string; message: string }[] }).details
    return `${path} ${message}`
  }
}

describe('untrusted JSON', () => {
  it('is parsed within the limits, whatever its strings contain', () => {
    const text = `{"a":${JSON.stringify('[{,:"\\\\"\\'.repeat(20_000))},"b":[${'0,'.repeat(40_000)}0]}`
    expect(parseBoundedJson(text, 'data')).toEqual(JSON.parse(text))
    expect(parseBoundedJson(`${'['.repeat(1000)}${']'.repeat(1000)}`, '')).toHaveLength(1)
  })

  it.each([
    [`${'['.repeat(1001)}${']'.repeat(1001)}`, 'data is nested more than 64 levels deep'],
    [`[${'0,'.repeat(50_001)}0]`, 'data has more than 50000 values'],
    [`[${'{"a":0},'.repeat(10_001)}0]`, 'data has more than 10000 fields'],
    [
      `[${'12345678901234567890,'.repeat(2000)}12345678901234567890]`,
      'data has more than 2000 numbers with more digits than JavaScript keeps',
    ],
    ['{"a', 'data is not valid JSON'],
    ['"\\"', 'data is not valid JSON'],
  ])('is refused above the limits: %#', (text, problem) => {
    expect(problemOf(() => parseBoundedJson(text, 'data'))).toBe(problem)
  })

  it.each([
    [{ a: [0, { b: 'x\0' }] }, 'body.a[1].b contains a character that cannot be stored'],
    [[0, '\ud800'], 'body[1] contains a character that cannot be stored'],
    [{ a: { 'b\0': 0 } }, 'body.a contains a character that cannot be stored'],
    [{ a: JSON.parse('1e999') }, 'body.a is a number too large to be stored'],
  ])('is refused if Postgres cannot store it: %#', (value, problem) => {
    expect(problemOf(() => assertStorable(value, 'body'))).toBe(problem)
  })
})
