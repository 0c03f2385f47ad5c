import type { SharedTryOn } from './share.schema.ts'
import { shareAddress } from './share-link.ts'
import type { SharedGeneration } from './shares.store.ts'

/** Presents a shared generation to anyone with the link. */
export function presentShare(
  shared: SharedGeneration,
  { imageUrl, shareUrl }: { imageUrl: string; shareUrl: string },
): SharedTryOn {
  const { token, domain, productImageUrl } = shared
  return {
    shareToken: token,
    shareUrl: shareAddress(token, shareUrl),
    expiresAt: shared.expiresAt.toISOString(),
    generation: {
      status: 'COMPLETED',
      resultImageUrl: imageUrl,
      createdAt: shared.createdAt.toISOString(),
      updatedAt: shared.updatedAt.toISOString(),
    },
    product: {
      productId: shared.productId,
      title: shared.productTitle,
      description: shared.productDescription,
      // Images that the shop sent as bytes have no URL.
      imageUrl: productImageUrl?.startsWith('http') ? productImageUrl : null,
    },
    merchant: { name: shared.shopName ?? domain, domain, url: `https://${domain}/` },
  }
}
