import { describe, expect, it } from 'vitest'
import { compileCheck, Type } from '../../../../api/shared/contract/schema.ts'

describe('the problems of a value', () => {
  const check = compileCheck(
    Type.Object({
      list: Type.Optional(
        Type.Array(Type.Object({ name: Type.String({ minLength: 1, maxLength: 3 }) }), { maxItems: 2 }),
      ),
      one: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 1 })),
      days: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 365 }), Type.Null()])),
      keep: Type.Optional(Type.Enum([1, 3, 7])),
      mode: Type.Optional(Type.Enum(['fast', 'slow'])),
      flag: Type.Optional(Type.Boolean()),
      share: Type.Optional(Type.Number({ minimum: 0 })),
      link: Type.Optional(Type.String({ format: 'web-address' })),
      source: Type.Optional(
        Type.Object(
          {
            id: Type.Optional(Type.String()),
            url: Type.Optional(Type.String()),
            fileKey: Type.Optional(Type.String()),
          },
          { additionalProperties: false, minProperties: 1, maxProperties: 1 },
        ),
      ),
    }),
  )
  const problemsOf = (value: unknown) => {
    const result = check(value)
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path} ${message}`)
  }

  it.each([
    [{ days: 0 }, 'days must be a whole number from 1 to 365 or null'],
    [{ days: '7' }, 'days must be a whole number from 1 to 365 or null'],
    [{ days: 1.5 }, 'days must be a whole number from 1 to 365 or null'],
    [{ keep: 2 }, 'keep must be one of 1, 3, 7'],
    [{ keep: '3' }, 'keep must be one of 1, 3, 7'],
    [{ mode: 'x' }, 'mode must be one of "fast", "slow"'],
    [{ flag: 'yes' }, 'flag must be true or false'],
    [{ share: -1 }, 'share must be a number of at least 0'],
    [{ link: 'ftp://a' }, 'link must be an http or https address'],
    [{ link: 'http://' }, 'link must be an http or https address'],
    [{ link: 'https://a:65536/' }, 'link must be an http or https address'],
    [{ one: [] }, 'one must have exactly 1 item'],
    [{ one: ['a', 'b'] }, 'one must have exactly 1 item'],
    [{ one: 'a' }, 'one must be an array'],
    [{ list: [{ name: '' }] }, 'list[0].name must not be empty'],
    [{ list: [{ name: 'a' }, { name: 'abcd' }] }, 'list[1].name must have at most 3 characters'],
    [{ list: [{}] }, 'list[0].name is required'],
    [{ list: [{ name: 'a' }, { name: 'a' }, { name: 'a' }] }, 'list must have at most 2 items'],
    [{ source: {} }, 'source must have exactly one of id, url and fileKey'],
    [{ source: { id: 'a', url: 'b' } }, 'source must have exactly one of id, url and fileKey'],
    [{ source: { imageId: 'a' } }, 'source.imageId is not one of id, url and fileKey'],
    [{ source: 'a' }, 'source must be an object'],
  ])('%j is reported as "%s"', (value, sentence) => {
    expect(problemsOf(value)).toEqual([sentence])
  })

  it('have one entry per field', () => {
    expect(problemsOf({ days: 0, list: [{ name: 1 }], flag: 1 })).toEqual([
      'list[0].name must be a string',
      'days must be a whole number from 1 to 365 or null',
      'flag must be true or false',
    ])
  })

  it('do not include 7.0 for an integer', () => {
    expect(problemsOf(JSON.parse('{ "keep": 7.0, "days": 7.0 }'))).toEqual([])
  })

  it('are at most 20, with short paths', () => {
    const named = compileCheck(Type.Object({}, { additionalProperties: Type.String() }))
    const result = named(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}${'x'.repeat(5000)}`, i])))
    expect(result.ok).toBe(false)
    if (result.ok) return
    expect(result.problems).toHaveLength(20)
    expect(Math.max(...result.problems.map(({ path }) => path.length))).toBe(201)
  })

  it('contain only the first for a large value', () => {
    expect(problemsOf({ list: Array(2000).fill(0), flag: 1 })).toEqual(['list must have at most 2 items'])
  })

  it('have the paths of the caller', () => {
    const result = check({ source: { url: 5 }, flag: 1 }, (path) =>
      path[0] === 'source' ? ['customer', ...path.slice(1)] : path,
    )
    expect(!result.ok && result.problems.map(({ path }) => path)).toEqual(['flag', 'customer.url'])
  })
})
