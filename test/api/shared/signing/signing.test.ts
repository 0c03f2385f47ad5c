import { describe, expect, it } from 'vitest'
import { readApiConfig } from '../../../../api/config.ts'
import { readCursor, signCursor } from '../../../../api/http/answers/cursor.ts'
import { isUploadLink, signUploadLink } from '../../../../api/photos/upload-link.ts'
import { isSigned, isSignedText, sign, signText } from '../../../../api/shared/signing/signing.ts'
import { signObjectLink, verifyObjectLink } from '../../../../api/shared/storage/object-link.ts'
import { hashAddress } from '../../../../api/shops/shopper.ts'

const OLD = 'an old key of some length'
const NEW = 'a new key of some length'
const expiresAt = Date.UTC(2030, 1, 1)
const now = expiresAt - 60_000

/** All signed values that callers return: created with one secret, verified with another. */
const SIGNED = {
  cursor: (secret: string) => {
    const place = { list: 'products', accountId: 'acc_1' }
    const cursor = signCursor('position', { ...place, secret })
    return (other: string) => {
      try {
        return readCursor(cursor, { ...place, secret: other }) === 'position'
      } catch {
        return false
      }
    }
  },
  'object link': (secret: string) => {
    const query = signObjectLink({ key: 'results/a.jpg', secret, expiresAt })
    return (other: string) => verifyObjectLink({ key: 'results/a.jpg', secret: other, query, now })
  },
  'upload link': (secret: string) => {
    const query = new URLSearchParams(signUploadLink({ uploadKey: 'upl_1', secret, expiresAt }))
    return (other: string) => isUploadLink({ uploadKey: 'upl_1', secret: other, query, now })
  },
}

describe('a signing secret', () => {
  it.each(Object.entries(SIGNED))('signs a %s with its first key and verifies it with every key', (_, signed) => {
    const byOld = signed(OLD)
    expect([byOld(OLD), byOld(`${NEW},${OLD}`), byOld(` ${NEW} , ${OLD} `)]).toEqual([true, true, true])
    // A key that was removed verifies nothing.
    expect(byOld(NEW)).toBe(false)
    const byNew = signed(`${NEW},${OLD}`)
    expect([byNew(NEW), byNew(`${OLD},${NEW}`), byNew(OLD)]).toEqual([true, true, false])
  })

  it('hashes addresses with its first key', () => {
    expect(hashAddress('192.0.2.1', `${NEW},${OLD}`)).toBe(hashAddress('192.0.2.1', NEW))
    expect(hashAddress('192.0.2.1', NEW)).not.toBe(hashAddress('192.0.2.1', OLD))
  })

  it('verifies a link that was signed before with the same key', () => {
    const query = new URLSearchParams('expires=1893456000&signature=40lanwNsalpFQ5nsAH7GJ9a9uCT5ldtzTdPd-00Jrh0')
    expect(verifyObjectLink({ key: 'results/a.jpg', secret: 'hush', query, now: 0 })).toBe(true)
  })

  it('accepts only a complete signature in one encoding and for its purpose', () => {
    const parts = ['purpose', 'part', null] as const
    const text = signText(OLD, parts)
    expect(isSignedText(OLD, parts, text)).toBe(true)
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const respelled = text.slice(0, -1) + last[last.indexOf(text.at(-1) ?? '') + 1]
    for (const forged of [respelled, `${text}=`, `${text}A`, text.slice(0, 22), '', 'ü'.repeat(43)]) {
      expect(isSignedText(OLD, parts, forged), forged).toBe(false)
    }
    expect(isSignedText(OLD, ['other', 'part', null], text)).toBe(false)
    expect(isSignedText(OLD, ['purpose', 'part'], text)).toBe(false)
    expect(isSigned(OLD, parts, { signature: sign(OLD, parts).subarray(0, 16) })).toBe(false)
  })

  it('is refused at the start if a key is too short, and signs nothing without a key', () => {
    const env = { DATABASE_URL: 'postgres://localhost/drape', REDIS_URL: 'redis://localhost' }
    expect(readApiConfig({ ...env, SIGNING_SECRET: `${NEW},${OLD}` }).SIGNING_SECRET).toBe(`${NEW},${OLD}`)
    for (const SIGNING_SECRET of ['', ',', 'short', `${NEW},short`]) {
      expect(() => readApiConfig({ ...env, SIGNING_SECRET }), SIGNING_SECRET).toThrow(/SIGNING_SECRET/)
    }
    expect(() => sign(' , ', ['purpose'])).toThrow(expect.objectContaining({ code: 'INTERNAL_ERROR' }))
  })
})
