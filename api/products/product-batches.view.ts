import type { ProductBatch, ProductBatchItem } from './product-batches.schema.ts'
import type { BatchItem, BatchRecord } from './product-batches.store.ts'

/** Presents a page of a batch. */
export function presentBatch(
  { id, items, createdAt, results, images }: BatchRecord,
  page: { readonly items: readonly BatchItem[]; readonly nextCursor: string | null },
): ProductBatch {
  const { created = 0, updated = 0, unchanged = 0, failed = 0 } = results
  const waiting = items - created - updated - unchanged - failed
  const { pending = 0, fetched = 0, failed: failures = 0, replaced = 0 } = images
  return {
    batchId: id,
    status: waiting > 0 ? 'processing' : pending > 0 ? 'fetching' : 'completed',
    createdAt: createdAt.toISOString(),
    counts: { total: items, created, updated, unchanged, failed, pending: waiting },
    images: { total: pending + fetched + failures + replaced, pending, fetched, failed: failures, replaced },
    items: page.items.map(presentItem),
    nextCursor: page.nextCursor,
    hasMore: page.nextCursor !== null,
  }
}

function presentItem({ position, line, externalId, result, error, ...images }: BatchItem): ProductBatchItem {
  const { pending, fetched, failures } = images
  return {
    index: position,
    line,
    externalId,
    result,
    ...(error !== null && { error: error as ProductBatchItem['error'] }),
    images: { pending, fetched, failures },
  }
}
