import { describe, expect, it } from 'vitest'
import { generateKey, hashKey, isWellFormedKey } from '../../../api/accounts/credentials.ts'

describe('keys', () => {
  it('have a prefix, 30 random characters and 6 check characters', () => {
    expect(generateKey('secret')).toMatch(/^sk_[0-9A-Za-z]{36}$/)
    expect(generateKey('publishable')).toMatch(/^pk_[0-9A-Za-z]{36}$/)
    expect(generateKey('secret')).not.toBe(generateKey('secret'))
  })

  it('are refused without a lookup after any single typo', () => {
    const key = generateKey('secret')
    expect(isWellFormedKey(key, 'secret')).toBe(true)
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === 'a' ? 'b' : 'a'
      expect(isWellFormedKey(key.slice(0, i) + other + key.slice(i + 1), 'secret')).toBe(false)
    }
  })

  it.each(['', 'sk_', 'x'.repeat(10_000), ` ${generateKey('secret')}`, generateKey('secret').toLowerCase()])(
    'refuses %j',
    (text) => expect(isWellFormedKey(text, 'secret')).toBe(false),
  )

  it('of one kind are not accepted as the other', () => {
    expect(isWellFormedKey(generateKey('publishable'), 'secret')).toBe(false)
  })

  it('are stored as SHA-256', () => {
    expect(hashKey('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})
