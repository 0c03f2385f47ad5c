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
  }
}
