import { type Database, sql } from './database.ts'

export type ProxyNonces = ReturnType<typeof createProxyNonces>

/** Store of nonces of plugin proxies. Each is valid for one request, whichever replica receives it. */
export function createProxyNonces(database: Database) {
  return {
    /** Returns false if the nonce was used before. */
    use: async (nonce: { shopId: string; value: string; expiresAt: Date }): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        insert into proxy_nonces (shop_id, nonce, expires_at)
        values (${nonce.shopId}, ${nonce.value}, ${nonce.expiresAt.toISOString()})
        on conflict do nothing`)
      return rowCount > 0
    },

    /** Deletes a batch of nonces whose timestamps are no longer accepted. Returns the count. */
    deleteExpired: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from proxy_nonces where ctid = any(array(
          select ctid from proxy_nonces where expires_at <= now() limit ${limit} for update skip locked))`)
      return rowCount
    },
  }
}
