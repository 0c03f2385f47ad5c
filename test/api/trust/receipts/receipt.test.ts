import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readKeyPair } from '../../../../api/shared/provenance/private-key.ts'
import { leafOf, rootOf } from '../../../../api/trust/receipts/merkle.ts'
import { presentKey, signReceipt } from '../../../../api/trust/receipts/sign.ts'
import { presentFacts } from '../../../../api/trust/receipts/statement.ts'
import { listsObject, verifyReceipt } from '../../../../api/trust/receipts/verify.ts'

const FACTS = {
  id: 'era_1',
  installation: 'https://tryon.example',
  account: 'acc_1',
  customer: 'ab'.repeat(32),
  requestedAt: '2026-11-25T09:30:00.000Z',
  erasedAt: '2026-11-25T09:30:01.000Z',
  ...{ issuedAt: '2026-11-25T09:31:00.000Z', objects: { bytes: 12, byKind: { person: 2 } }, rows: { images: 2 } },
  cancelledJobs: 0,
  confirmations: [],
  kept: [],
}
const KEYS = Array.from({ length: 7 }, (_, i) => `persons/acc_1/img_${i}.jpg`)
const makeKey = (pem = '') => readKeyPair(pem, 'RECEIPT_KEY')
const version = makeKey()
const key = presentKey(version)
const receipt = signReceipt(FACTS, KEYS, version)
const text = JSON.stringify(receipt)
const verify = (changed: unknown) => verifyReceipt(JSON.stringify(changed), [key.keyId])

describe('the Merkle tree of a receipt', () => {
  const sha256 = (hex: string) => createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex')

  it('matches RFC 9162', () => {
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(leafOf)
    const node = (left: string, right: string) => sha256(`01${left}${right}`)
    expect(a).toBe(sha256('0061'))
    expect(rootOf([])).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(rootOf([a])).toBe(a)
    expect(rootOf([a, b, c])).toBe(node(node(a, b), c))
    expect(rootOf([a, b, c, d, e])).toBe(node(node(node(a, b), node(c, d)), e))
  })
})

describe('a receipt', () => {
  it('counts erased objects of which the storage keeps versions, and says when it does not know', () => {
    const times = { requestedAt: new Date(), erasedAt: new Date(), checkedAt: new Date() }
    const erasure = {
      id: 'era_1',
      accountId: 'acc_1',
      customer: '',
      heldObjects: 0,
      cachedSeconds: 0,
      logKey: null,
      edition: '',
    }
    const found = { byKind: {}, bytes: 0, rows: {}, cancelledJobs: 0, webhooks: 0, installation: '' }
    const present = (versioned: number | null) => {
      const { kept, confirmations } = presentFacts({ ...found, erasure: { ...erasure, ...times }, versioned })
      return [kept.map(({ what, count }) => ({ what, count })), confirmations[1].how.includes('earlier versions')]
    }
    expect(present(0)).toEqual([[], false])
    expect(present(2)).toEqual([[{ what: 'objectVersions', count: 2 }], false])
    expect(present(null)).toEqual([[], true])
  })

  it('is valid as signed, in any formatting, and inside the response of the API', () => {
    expect(verifyReceipt(text, [key.keyId])).toMatchObject({ status: 'valid', statement: { id: 'era_1' } })
    expect(verifyReceipt(JSON.stringify(receipt, null, 2), [key.keyId]).status).toBe('valid')
    expect(verify({ erasureId: 'era_1', status: 'ISSUED', receipt }).status).toBe('valid')
  })

  it('is invalid with another erasure or statement in the unsigned part', () => {
    expect(verify({ erasureId: 'era_2', status: 'ISSUED', receipt }).status).toBe('invalid')
    const forged = { ...receipt, statement: { ...receipt.statement, customer: 'ac'.repeat(32) } }
    expect(verify({ ...forged, erasureId: 'era_1', receipt }).status).toBe('invalid')
  })

  it('is invalid after any change of the statement', () => {
    const changes: readonly [string, (statement: typeof receipt.statement) => object][] = [
      ['customer', () => ({ customer: 'ac'.repeat(32) })],
      ['time', () => ({ erasedAt: '2026-11-25T09:30:01.001Z' })],
      ['count', ({ objects }) => ({ objects: { ...objects, bytes: 13 } })],
      ['kept', () => ({ kept: [{ what: 'objects', count: 1, reason: '' }] })],
      ['installation', () => ({ installation: 'https://other.example' })],
    ]
    for (const [name, change] of changes) {
      const statement = { ...receipt.statement, ...change(receipt.statement) }
      expect(verify({ ...receipt, statement }), name).toMatchObject({ status: 'invalid', statement: null })
    }
  })

  it('is invalid with a missing, changed or additional leaf', () => {
    const [first, ...others] = receipt.leaves
    for (const leaves of [others, [leafOf('other'), ...others], [...receipt.leaves, first], [...others, first]])
      expect(verify({ ...receipt, leaves })).toMatchObject({ status: 'invalid' })
  })

  it('is invalid if truncated or extended', () => {
    for (let length = 0; length < text.length; length += 7)
      expect(verifyReceipt(text.slice(0, length), [key.keyId]).status).toBe('invalid')
  })

  it('is invalid with duplicate members', () => {
    const twice = text.replace('"statement":{', '"statement":{"cancelledJobs":9,')
    expect(verifyReceipt(twice, [key.keyId])).toMatchObject({
      status: 'invalid',
      problems: [expect.stringMatching(/repeats/)],
    })
    expect(verify({ ...receipt, note: 'paid' }).status).toBe('invalid')
  })

  it('with another key is foreign, even under a known key ID', () => {
    const other = makeKey()
    const forged = signReceipt(FACTS, KEYS, other)
    expect(verify(forged)).toMatchObject({
      status: 'foreign',
      problems: [expect.stringContaining('https://tryon.example')],
    })
    expect(verify({ ...forged, signature: { ...forged.signature, keyId: key.keyId } }).status).toBe('invalid')
    const borrowed = { ...forged.signature, ...presentKey(version) }
    expect(verify({ ...forged, signature: borrowed }).status).toBe('invalid')
  })

  it('lists objects by key and by link', () => {
    expect(listsObject(text, KEYS[3])).toBe(true)
    expect(listsObject(text, `https://tryon.example/objects/${KEYS[3]}?expires=1&signature=x`)).toBe(true)
    expect(listsObject(text, 'persons/acc_1/img_9.jpg')).toBe(false)
  })

  it.each([['nonsense'], ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----']])(
    'refuses an invalid key',
    (pem) => {
      expect(() => makeKey(pem)).toThrow(/RECEIPT_KEY must be an unencrypted private key in PEM/)
    },
  )
})
