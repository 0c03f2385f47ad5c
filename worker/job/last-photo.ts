import { hash } from 'node:crypto'
import type { TryOnRequest } from '../inference/protocol.ts'
import type { RequestPhoto } from './request-photo.ts'

/** The analysed photo of the last job: shoppers often try on several products in a row. */
export interface LastPhoto {
  find(request: TryOnRequest): RequestPhoto | null
  /** Replaces the photo, for 45 s from now. */
  set(request: TryOnRequest, photo: RequestPhoto): void
  evict(): void
}

/** Well below the time after which an erasure counts as complete in caches (`CACHE_SECONDS` of api/erasure/erasures.store.ts). */
export const LIFETIME_MS = 45_000

export function createLastPhoto(): LastPhoto {
  let last: { readonly key: string; readonly photo: RequestPhoto } | null = null
  let expiry: NodeJS.Timeout | undefined
  const evict = () => {
    clearTimeout(expiry)
    last = null
  }
  return {
    find: (request) => (last?.key === keyOf(request) ? last.photo : null),
    set: (request, photo) => {
      evict()
      last = { key: keyOf(request), photo }
      expiry = setTimeout(evict, LIFETIME_MS).unref()
    },
    evict,
  }
}

/** Everything that the analysis of the photo depends on. */
function keyOf({ engine, photo, crop, safety }: TryOnRequest): string {
  return JSON.stringify([hash('sha256', photo), engine, crop, safety?.level])
}
