import { argon2Sync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '../../../../api/dashboard/sign-in/password.ts'

describe('an operator’s password', () => {
  it('is stored as an Argon2id hash with its parameters and a salt of its own', async () => {
    const [one, other] = [await hashPassword('the same password'), await hashPassword('the same password')]
    expect(one).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(other.split('$')[4]).not.toBe(one.split('$')[4])
    expect(await verifyPassword('the same password', one)).toBe(true)
    expect(await verifyPassword('the same passwore', one)).toBe(false)
  })

  it('is checked with the parameters with which it was stored', async () => {
    const nonce = Buffer.alloc(16, 1)
    const hash = argon2Sync('argon2id', {
      message: 'an old password',
      nonce,
      memory: 64,
      passes: 2,
      parallelism: 2,
      tagLength: 32,
    })
    const stored = `$argon2id$v=19$m=64,t=2,p=2$${nonce.toString('base64')}$${hash.toString('base64')}`.replaceAll(
      '=$',
      '$',
    )
    expect(await verifyPassword('an old password', stored.replaceAll(/=+(?=\$|$)/g, ''))).toBe(true)
  })

  it('is normalised to one Unicode form', async () => {
    expect(await verifyPassword('cafe\u0301 at the corner', await hashPassword('caf\u00e9 at the corner'))).toBe(true)
  })

  it('is never valid for an unknown operator', async () => {
    expect(await verifyPassword('', null)).toBe(false)
    await expect(verifyPassword('x', 'not a hash')).rejects.toThrow('not an Argon2id hash')
  })
})
