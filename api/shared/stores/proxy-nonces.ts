import { type Database, sql } from '../database/database.ts'

export type ProxyNonces = ReturnType<typeof createProxyNonces>

/** Nonces of plugin proxies: each is good for one request, whichever replica it reaches. */
export function createProxyNonces(database: Database) {
  return {
    /** False when the nonce was used before. */
    use: async (nonce: { shopId: string; value: string; expiresAt: Date }): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        insert into proxy_nonces (shop_id, nonce, expires_at)
        values (${nonce.shopId}, ${nonce.value}, ${nonce.expiresAt.toISOString()})
        on conflict do nothing`)
      return rowCount > 0
    },

    /** Deletes a part of those whose timestamp is refused by now. Returns how many. */
    deleteExpired: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from proxy_nonces where ctid = any(array(
          select ctid from proxy_nonces where expires_at <= now() limit ${limit} for update skip locked))`)
      return rowCount
    },
  }
}
