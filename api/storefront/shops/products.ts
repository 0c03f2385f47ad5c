import { v7 as uuidv7 } from 'uuid'
import { isObject } from '../../http/json-object.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { ProductInput } from '../../shared/database/product-merge.store.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import type { PlatformProduct, ShopPlatform } from '../shop-platforms/shop-platform.ts'

/**
 * A product as the shop's pages identify it: `gid://<platform>/Product/<id>` and
 * `gid://<platform>/ProductVariant/<id>`.
 */
export interface ProductGid {
  readonly product: string
  /** Null: the default variant. */
  readonly variant: string | null
}

export interface KnownProduct {
  readonly externalId: string
  readonly metadata: unknown
}

/**
 * External IDs that the product may have in the catalog: its gid, the gid of its variant, and the ID part of its gid.
 */
export function namesOfProduct({ product, variant }: ProductGid): string[] {
  return [product, ...(variant === null ? [] : [variant]), idOf(product)]
}

/**
 * Resolves a gid to a product for the acceptance statement: the catalog's product with the whole gid, else with the ID
 * part, else the platform's product, which is added to the catalog. Throws `PRODUCT_NOT_FOUND`, and a retryable
 * `SERVICE_UNAVAILABLE` when the platform does not respond.
 */
export async function resolveShopProduct(
  gid: ProductGid,
  { known, shop, findProduct }: { known: readonly KnownProduct[]; shop: ShopRecord; findProduct: FindProduct },
): Promise<ProductInput> {
  const stored = storedName(gid, known)
  if (stored !== null) return { id: uuidv7(), externalId: stored, anonymous: false }
  const found = await findProduct(shop, gid.product, gid.variant)
  if (found === null || found.imageUrls.length === 0) {
    throw new DrapeError('PRODUCT_NOT_FOUND', `The product ${gid.product} does not exist or has no image.`)
  }
  // The product's own gid is used for the variant that was requested first.
  const isTaken = known.some(({ externalId }) => externalId === gid.product)
  return catalogProduct(found, { gid, externalId: isTaken ? (gid.variant ?? gid.product) : gid.product, shop })
}

export type FindProduct = ShopPlatform['findProduct']

function storedName(gid: ProductGid, known: readonly KnownProduct[]): string | null {
  const names = [gid.product, gid.variant, idOf(gid.product)]
  const stored = names.map((name) => known.find(({ externalId }) => externalId === name))
  return stored.find((product) => product !== undefined && shows(product, gid))?.externalId ?? null
}

/** Marks a product's metadata as imported from the shop's platform, with the variant that its images show. */
const SOURCE = 'shop-platform'

/** Whether its images show the requested variant; a product that the account created itself serves all variants. */
function shows({ metadata }: KnownProduct, { product, variant }: ProductGid): boolean {
  if (!isObject(metadata) || metadata.source !== SOURCE) return true
  // Pages may name a variant of another product.
  return metadata.productId === product && metadata.variantId === variant
}

const MAX_IMAGES = 10
const MAX_TITLE = 1000
const MAX_DESCRIPTION = 20_000

function catalogProduct(
  { title, description, imageUrls }: PlatformProduct,
  { gid, externalId, shop }: { gid: ProductGid; externalId: string; shop: ShopRecord },
): ProductInput {
  return {
    id: uuidv7(),
    externalId,
    anonymous: false,
    title: title.slice(0, MAX_TITLE),
    description: description?.slice(0, MAX_DESCRIPTION),
    images: imageUrls.slice(0, MAX_IMAGES).map((sourceUrl, order) => ({ sourceUrl, order, classifications: null })),
    metadata: { source: SOURCE, shop: shop.domain, productId: gid.product, variantId: gid.variant },
  }
}

function idOf(gid: string): string {
  return gid.slice(gid.lastIndexOf('/') + 1)
}
