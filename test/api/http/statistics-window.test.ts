import { describe, expect, it } from 'vitest'
import { parseWindow } from '../../../api/http/statistics-window.ts'

describe('a time window', () => {
  const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString())

  it.each([
    ['2026-05-12T10:00:00Z', '2026-05-12T10:00:00.000Z'],
    ['2026-05-12T10:00:00.123Z', '2026-05-12T10:00:00.123Z'],
    ['2026-05-12T10:00:00.123456Z', '2026-05-12T10:00:00.123Z'],
    ['2026-05-12T10:00:00+02:00', '2026-05-12T08:00:00.000Z'],
    ['2026-05-12T10:00:00 02:00', '2026-05-12T08:00:00.000Z'],
    ['2026-05-12T10:00:00-0930', '2026-05-12T19:30:00.000Z'],
    ['2026-05-12t10:00z', '2026-05-12T10:00:00.000Z'],
    ['2026-05-12T10:00:00', '2026-05-12T10:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('starts at %s', (from, moment) => {
    expect(iso(parseWindow({ from }).from)).toBe(moment)
  })

  it('has null for an absent bound, and includes whole days', () => {
    expect(parseWindow({})).toEqual({ from: null, to: null })
    const { from, to } = parseWindow({ from: '2026-05-12', to: '2026-05-12' })
    expect([iso(from), iso(to)]).toEqual(['2026-05-12T00:00:00.000Z', '2026-05-12T23:59:59.999Z'])
  })

  it.each([
    'yesterday',
    '',
    '12.05.2026',
    '2026-02-30',
    '2026-13-01',
    '2026-05-12T25:00:00Z',
    '2026-06-30T23:59:60Z',
    '2026-05-12T10:00:00+99:00',
    '+12026-05-12T10:00:00Z',
    '1715508000',
    ['2026-05-12', '2026-05-13'],
  ])('is refused when it starts at %j', (from) => {
    expect(() => parseWindow({ from })).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        details: [{ path: 'from', message: 'must be an ISO 8601 date and time' }],
      }),
    )
  })

  it('is refused if it ends before it starts; the error names both bounds if both are invalid', () => {
    const detailsOf = (query: Record<string, unknown>) => {
      try {
        return parseWindow(query)
      } catch (error) {
        return (error as { details: { path: string }[] }).details.map(({ path }) => path)
      }
    }
    expect(detailsOf({ from: '2026-05-12T10:00:00+02:00', to: '2026-05-12T07:59:59Z' })).toEqual(['from'])
    expect(detailsOf({ from: 'x', to: 'y' })).toEqual(['from', 'to'])
  })
})
