import type { Customer } from '../../shared/retention/customer.ts'
import { customerShopperId } from '../../shops/shopper.ts'
import type { ShopRecord, Shops } from '../../shops/shops.store.ts'
import type { ShopCustomer, ShopPrivacy } from './shop-privacy.store.ts'

/** Batch size, small enough for a short statement. */
const BATCH_SIZE = 500

export interface ShopErasureParts {
  readonly shops: Pick<Shops, 'update'>
  readonly privacy: ShopPrivacy
  /** Deletes the images of one shopper and revokes their links. */
  readonly erase: (shopper: Customer) => Promise<unknown>
}

// After a crash, the next call continues.

/** Erases one customer of a shop: images, lead, and the customer of events. */
export async function eraseShopCustomer(
  shop: ShopRecord,
  customer: ShopCustomer,
  { privacy, erase }: ShopErasureParts,
): Promise<void> {
  if (customer.id !== null) {
    // The server of the account names customers by the ID alone, which is that of one customer if the account has one shop.
    const isOnly = await privacy.isOnlyShop(shop)
    const externalUserId = isOnly ? customer.id : customerShopperId(shop.id, customer.id)
    await erase({ accountId: shop.accountId, externalUserId })
  }
  await privacy.forgetCustomer(shop, customer)
}

/** Deactivates a shop and erases all of its shoppers: images, share links, leads and events. */
export async function eraseShop(shop: ShopRecord, { shops, privacy, erase }: ShopErasureParts): Promise<void> {
  // Keeps the secrets, with which the platform signs a repeated request.
  await shops.update(shop.id, { isActive: false, adminToken: null, adminClientId: null })
  await untilNone(async () => {
    const shoppers = await privacy.findShoppers(shop, BATCH_SIZE)
    for (const externalUserId of shoppers) await erase({ accountId: shop.accountId, externalUserId })
    return shoppers.length
  })
  await untilNone(() => privacy.deletePeople(shop, BATCH_SIZE))
  await untilNone(() => privacy.deleteEvents(shop, BATCH_SIZE))
}

async function untilNone(work: () => Promise<number>): Promise<void> {
  while ((await work()) > 0);
}
