import type { Detected, ProductImage } from '../shared/generations/generation.ts'
import type { Product, ProductStatistics } from './products.schema.ts'
import type { ProductStatistics as Counted, ProductRecord } from './products.store.ts'

/** Presents a product to callers. */
export function presentProduct(product: ProductRecord): Product {
  const { externalId, title, description, images, detected, metadata, validForDays } = product
  return {
    externalId,
    title,
    description,
    images: images.map((image) => presentImage(image, detected?.[String(image.order)])),
    metadata,
    validForDays,
    lastUsedAt: product.lastUsedAt?.toISOString() ?? null,
    expiresAt: product.expiresAt?.toISOString() ?? null,
    createdAt: product.createdAt.toISOString(),
    updatedAt: product.updatedAt.toISOString(),
  }
}

// The object key is internal.
function presentImage({ sourceUrl, order, classifications }: ProductImage, detected?: Detected) {
  return { sourceUrl, order, classifications, ...(detected && { detected }) }
}

export function presentStatistics({ total, completed, failed, averageMs }: Counted): ProductStatistics {
  return {
    totalGenerations: total,
    completedGenerations: completed,
    failedGenerations: failed,
    avgGenerationTimeMs: averageMs,
  }
}
