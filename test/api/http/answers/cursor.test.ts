import { describe, expect, it } from 'vitest'
import { readCursor, signCursor } from '../../../../api/http/answers/cursor.ts'

describe('a cursor', () => {
  const place = { list: 'products', accountId: 'acc_1', secret: 'a secret of some length' }
  const cursor = signCursor('0198-position', place)

  it('encodes its position', () => {
    expect(readCursor(cursor, place)).toBe('0198-position')
    expect(readCursor(signCursor('größer/als', place), place)).toBe('größer/als')
  })

  it('does not show its position', () => {
    expect(cursor).toMatch(/^[\w-]+$/)
    expect(cursor).not.toContain('position')
  })

  it.each([
    ['account', { accountId: 'acc_2' }],
    ['list', { list: 'images' }],
    ['secret', { secret: 'another secret of some length' }],
  ])('is refused with another %s', (_, changes) => {
    expect(() => readCursor(cursor, { ...place, ...changes })).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        details: [{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }],
      }),
    )
  })

  it('is refused with any character changed, added or left out', () => {
    for (const i of cursor.split('').keys()) {
      const changed = cursor[i] === 'A' ? 'B' : 'A'
      expect(() => readCursor(cursor.slice(0, i) + changed + cursor.slice(i + 1), place)).toThrow()
      expect(() => readCursor(cursor.slice(0, i) + cursor.slice(i + 1), place)).toThrow()
    }
    for (const forged of ['', '!', `${cursor}=`, `${cursor}!`, ` ${cursor}`, `${cursor}A`]) {
      expect(() => readCursor(forged, place)).toThrow()
    }
  })
})
