import { DrapeError } from '../../shared/contract/errors.ts'
import type { ShopRecord, Shops } from '../../shops/shops.store.ts'
import type { DashboardContext } from '../state.ts'

/** The shop of the page. Throws `ROUTE_NOT_FOUND`. */
export async function findShop(
  ctx: DashboardContext,
  { shops }: { shops: Pick<Shops, 'findById'> },
): Promise<ShopRecord> {
  const shop = await shops.findById(ctx.params.id)
  if (shop === null) throw new DrapeError('ROUTE_NOT_FOUND', `The shop ${ctx.params.id} does not exist.`)
  return shop
}
