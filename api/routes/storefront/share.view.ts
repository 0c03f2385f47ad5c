import type { SharedGeneration } from '../../stores/shares.ts'
import type { SharedTryOn } from './share.schema.ts'
import { shareAddress } from './share-link.ts'

/** A shared generation as everybody with the link may see it. */
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
      generationId: shared.generationId,
      status: 'COMPLETED',
      resultImageUrl: imageUrl,
      createdAt: shared.createdAt.toISOString(),
      updatedAt: shared.updatedAt.toISOString(),
    },
    product: {
      productId: shared.productId,
      title: shared.productTitle,
      description: shared.productDescription,
      // Pictures that the shop has sent as bytes have no address.
      imageUrl: productImageUrl?.startsWith('http') ? productImageUrl : null,
    },
    merchant: { name: shared.shopName ?? domain, domain, url: `https://${domain}/` },
  }
}
