import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { hashKey } from '../api/accounts/credentials.ts'
import { Type } from '../api/shared/contract/schema.ts'
import { rowType, sql } from '../api/shared/database/database.ts'
import { openTestDatabase } from './support/postgres.ts'

const ROOT = resolve(import.meta.dirname, '..')

describe('verification of keys and signatures', async () => {
  const { database } = await openTestDatabase({ poolSize: 1 })

  it('uses the SHA-256 hash of a key, and the database stores no part of the key', async () => {
    const { apiKey } = await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })
    const rows = await database.any(sql.type(rowType(Type.Object({ row: Type.String() })))`
      select to_jsonb(api_keys)::text as row from api_keys union all select to_jsonb(accounts)::text from accounts`)
    expect(rows.some(({ row }) => row.includes(hashKey(apiKey).toString('hex')))).toBe(true)
    for (const part of [apiKey, apiKey.slice(3, 15), apiKey.slice(-12)]) {
      expect(rows.filter(({ row }) => row.includes(part))).toEqual([])
    }
  })

  it('compares signatures in constant time in every file that computes an HMAC', () => {
    const signing = globSync('{api,worker,controller}/**/*.ts', { cwd: ROOT }).filter((path) =>
      readFileSync(resolve(ROOT, path), 'utf8').includes('createHmac('),
    )
    const comparing = signing.filter((path) => readFileSync(resolve(ROOT, path), 'utf8').includes('timingSafeEqual('))
    expect(signing.filter((path) => !comparing.includes(path)).sort()).toEqual(NEVER_COMPARED)
  })
})

/** Their receivers compare: those of webhooks, and who checks which photo was used in a result. */
const NEVER_COMPARED = ['api/shared/provenance/ingredient.ts', 'api/shared/signing/webhook-signature.ts']
