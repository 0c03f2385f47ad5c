import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import type { Scenario } from '../support/scenario.ts'

const Count = rowType(Type.Object({ count: Type.Integer() }))

/** All of them wait for one row. */
const PATIENCE_MS = 120_000

export const sameProduct: Scenario<{ orders: number }> = {
  id: 'R15',
  what: 'the same new product comes with many orders at once',
  quick: { orders: 300 },
  full: { orders: 10_000 },
  run: async ({ platform, size }) => {
    const shop = await platform.openShop({ credits: size.orders })
    const product = { externalId: 'shirt', title: 'Shirt', images: [{ source: { url: platform.images.next(0) } }] }
    await Promise.all(Array.from({ length: size.orders }, () => shop.order({ product, patienceMs: PATIENCE_MS })))
    const workers = await platform.startWorkers(3)
    await platform.settle()
    await workers.stop()
    const products = await platform.database.oneFirst(sql.type(Count)`
      select count(*) as count from products where account_id = ${shop.accountId}`)
    const charged = await platform.database.oneFirst(sql.type(Count)`
      select count(*) as count from ledger where account_id = ${shop.accountId} and kind = 'reserve'`)
    const slowest = Math.max(...shop.orders.map(({ ms }) => ms)) / 1000
    const others = shop.orders.filter(({ generationId }) => generationId === null)
    return {
      accepted: shop.accepted,
      injected: { orders: size.orders },
      measured: { products, charged, 'slowest answer s': slowest },
      violations: [
        ...(products === 1 ? [] : [`there are ${products} products`]),
        ...(charged === size.orders ? [] : [`${charged} of ${size.orders} are charged`]),
        ...others.map(({ status, code, ms }) => `one was answered ${status} ${code} after ${Math.round(ms)} ms`),
      ],
    }
  },
}
