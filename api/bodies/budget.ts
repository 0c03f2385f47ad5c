import { createCache } from '../shared/cache.ts'

const MB = 1024 * 1024
/** What a body counts for as long as it is open, however little of it has arrived. */
const MIN_BYTES = 64 * 1024
const TRUSTED_MS = 3_600_000
const MAX_TRUSTED = 10_000

/** Who a body claims to be from. */
export interface BodyOwner {
  /** The network that the request came from. */
  readonly address: string
  /** Domain of the shop that the request claims to be from. */
  readonly shop: string
}

export interface BodyBudgetLimits {
  /** All bodies of strangers. */
  readonly strangers?: number
  /** Bodies of one stranger's address. */
  readonly address?: number
  /** All bodies from addresses that have proved their shop. */
  readonly trusted?: number
  /** Bodies of one shop from such addresses. */
  readonly shop?: number
}

/** Bytes of one body in the budget. */
export interface BodyShare {
  /** Adds bytes; false when a limit is exceeded. */
  add(bytes: number): boolean
  /** Records that the owner has proved the claim. */
  trust(): void
  release(): void
}

/**
 * Counts the bytes of bodies that are held before their signature is known. A claim costs nothing, so bodies are counted by
 * address and share one limit; an address that has proved a shop within the last hour counts against that shop's own limit
 * instead, which strangers cannot use up. The defaults fit in 192 MB of a temporary volume of 256 MB.
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
    /** Opens a share for a body; null when a limit is exceeded already. */
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
