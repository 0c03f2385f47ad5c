import { createCache } from '../../shared/process/cache.ts'

const MB = 1024 * 1024
/** Minimum charge of an open body, however few bytes have arrived. */
const MIN_BYTES = 64 * 1024
const TRUSTED_MS = 3_600_000
const MAX_TRUSTED = 10_000

/** Claimed, unproven owner of a body. */
export interface BodyOwner {
  /** Network of the request. */
  readonly address: string
  /** Claimed domain of the shop. */
  readonly shop: string
}

export interface BodyBudgetLimits {
  /** Limit for all unauthenticated bodies. */
  readonly strangers?: number
  /** Limit for unauthenticated bodies of one address. */
  readonly address?: number
  /** Limit for all bodies from addresses that have authenticated as a shop. */
  readonly trusted?: number
  /** Limit for bodies of one shop from such addresses. */
  readonly shop?: number
}

/** Bytes of one body in the budget. */
export interface BodyShare {
  /** Adds bytes; false when a limit is exceeded. */
  add(bytes: number): boolean
  /** Records that the owner is authenticated. */
  trust(): void
  release(): void
}

/**
 * Limits the bytes of bodies that are held before their signature is checked. Claims are free, so bodies count by
 * address and share one limit. An address that has authenticated as a shop within the last hour counts against that
 * shop's own limit instead, which strangers cannot exhaust. The defaults fit in 192 MB of a temporary volume of 256 MB.
 */
export function createBodyBudget({
  strangers = 96 * MB,
  address = 12 * MB,
  trusted = 96 * MB,
  shop = 48 * MB,
}: BodyBudgetLimits = {}) {
  const trustedPairs = createCache<true>({ max: MAX_TRUSTED, ms: TRUSTED_MS })
  const held = new Map<string, number>()
  const add = (name: string, bytes: number) => {
    const sum = (held.get(name) ?? 0) + bytes
    if (sum > 0) held.set(name, sum)
    else held.delete(name)
    return sum
  }

  return {
    /** Opens a share for a body; null when a limit is already exceeded. */
    open: (owner: BodyOwner): BodyShare | null => {
      const pair = `${owner.address} ${owner.shop}`
      const isTrusted = trustedPairs.has(pair)
      const limits: [name: string, limit: number][] = isTrusted
        ? [
            ['trusted', trusted],
            [`shop ${owner.shop}`, shop],
          ]
        : [
            ['strangers', strangers],
            [`address ${owner.address}`, address],
          ]
      let counted = 0
      let received = 0
      const count = (bytes: number) => {
        counted += bytes
        return limits.every(([name, limit]) => add(name, bytes) <= limit)
      }
      const share: BodyShare = {
        add: (bytes) => {
          received += bytes
          return received <= counted || count(received - counted)
        },
        trust: () => void trustedPairs.set(pair, true),
        release: () => {
          for (const [name] of limits) add(name, -counted)
          counted = 0
        },
      }
      if (limits.map(([name, limit]) => (held.get(name) ?? 0) + MIN_BYTES <= limit).includes(false)) return null
      count(MIN_BYTES)
      return share
    },
  }
}
