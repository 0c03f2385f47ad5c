import type { Customer } from '../shared/stores/customer.ts'
import { customerShopperId } from '../shoppers/shopper.ts'
import type { ShopCustomer, ShopPrivacy } from '../stores/shop-privacy.ts'
import type { ShopRecord, Shops } from '../stores/shops.ts'

/** Small enough for a short statement. */
const PART = 500

export interface ShopErasureParts {
  readonly shops: Pick<Shops, 'update'>
  readonly privacy: ShopPrivacy
  /** Deletes the pictures of one shopper and cuts the links to them. */
  readonly erase: (shopper: Customer) => Promise<void>
}

// Killed at any moment, the next call goes on where it ended.

/** Erases one customer of a shop: pictures, lead, and their name on events. */
export async function eraseShopCustomer(
  shop: ShopRecord,
  customer: ShopCustomer,
  { privacy, erase }: ShopErasureParts,
): Promise<void> {
  if (customer.id !== null) {
    await erase({ accountId: shop.accountId, externalUserId: customerShopperId(shop.id, customer.id) })
  }
  await privacy.forgetCustomer(shop, customer)
}

/** Ends a shop and erases all of its shoppers: pictures, share links, leads and events. */
export async function eraseShop(shop: ShopRecord, { shops, privacy, erase }: ShopErasureParts): Promise<void> {
  // Its secrets stay: with them the platform proves itself when it repeats the request.
  await shops.update(shop.id, { isActive: false, adminToken: null })
  await untilNone(async () => {
    const shoppers = await privacy.findShoppers(shop, PART)
    for (const externalUserId of shoppers) await erase({ accountId: shop.accountId, externalUserId })
    return shoppers.length
  })
  await untilNone(() => privacy.deletePeople(shop, PART))
  await untilNone(() => privacy.deleteEvents(shop, PART))
}

async function untilNone(work: () => Promise<number>): Promise<void> {
  while ((await work()) > 0);
}
