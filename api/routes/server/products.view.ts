import type { ProductImage } from '../../shared/generation.ts'
import type { ProductRecord, ProductStatistics } from '../../stores/products.ts'

/** A product as callers see it. */
export function presentProduct(product: ProductRecord) {
  const { externalId, title, description, images, metadata, validForDays } = product
  return {
    externalId,
    title,
    description,
    images: images.map(presentImage),
    metadata,
    validForDays,
    lastUsedAt: product.lastUsedAt?.toISOString() ?? null,
    expiresAt: product.expiresAt?.toISOString() ?? null,
    createdAt: product.createdAt.toISOString(),
    updatedAt: product.updatedAt.toISOString(),
  }
}

// Where the bytes lie stays with us.
function presentImage({ sourceUrl, order, classifications }: ProductImage) {
  return { sourceUrl, order, classifications }
}

export function presentStatistics({ total, completed, failed, averageMs }: ProductStatistics) {
  return {
    totalGenerations: total,
    completedGenerations: completed,
    failedGenerations: failed,
    avgGenerationTimeMs: averageMs,
  }
}
