import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Receipt } from '../api/erasure/receipt.ts'
import { readKeyPair } from '../api/shared/provenance/private-key.ts'
import { leafOf } from '../api/trust/receipts/merkle.ts'
import { signReceipt } from '../api/trust/receipts/sign.ts'
import { verifyReceipt } from '../api/trust/receipts/verify.ts'
import { findMissingLanguages, runDocumented } from './support/documented-code.ts'

const missingLanguages = await findMissingLanguages(['ts'])

const DOCS = resolve(import.meta.dirname, '../docs')
const PAGE = readFileSync(join(DOCS, 'erasure.md'), 'utf8')

interface Vector {
  readonly name: string
  readonly status: 'valid' | 'foreign' | 'invalid'
  readonly receipt: string
}
const { seed, keys, objects, vectors } = JSON.parse(readFileSync(join(DOCS, 'receipt-vectors.json'), 'utf8')) as {
  seed: string
  keys: string[]
  objects: string[]
  vectors: Vector[]
}

/** What follows the code of the page: it reads keys and receipts as JSON from standard input, and writes the ID of each, or null. */
const DRIVER = `
import { readFileSync } from 'node:fs'
const { keys, receipts } = JSON.parse(readFileSync(0, 'utf8'))
const verified = (text: string) => {
  try { return verifyReceipt(text, keys).id } catch { return null }
}
console.log(JSON.stringify(receipts.map(verified)))`

describe('the documented verification of receipts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-receipts-'))
  afterAll(() => rm(folder, { recursive: true }))

  it.each(vectors)('has the status of verifyReceipt for "$name"', ({ status, receipt }) => {
    expect(verifyReceipt(receipt, keys).status).toBe(status)
  })

  it('has the receipt that the service signs', () => {
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(seed, 'hex')])
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const genuine: Receipt = JSON.parse(vectors[0].receipt)
    expect(genuine.leaves).toEqual(objects.map(leafOf).sort())
    expect(signReceipt(genuine.statement, objects, readKeyPair(pem, 'RECEIPT_KEY'))).toEqual(genuine)
  })

  it.skipIf(missingLanguages.ts)('accepts only genuine receipts', async () => {
    const input = { keys, receipts: vectors.map(({ receipt }) => receipt) }
    const verified = await runDocumented(PAGE, { language: 'ts', driver: DRIVER, folder, input })
    const { statement } = JSON.parse(vectors[0].receipt) as Receipt
    expect(verified).toEqual(vectors.map(({ status }) => (status === 'valid' ? statement.id : null)))
  })
})
