import ipaddr from 'ipaddr.js'
import { DrapeError } from '../shared/contract/errors.ts'
import { type Static, Type } from '../shared/contract/schema.ts'
import type { KeyKind } from './credentials.ts'

export const SCOPES = ['try-on', 'products', 'read', 'erase', 'webhooks', 'analytics'] as const
/**
 * `try-on`: upload photos; create, read and cancel generations. `products`: create, update, read and delete products.
 * `read`: read generations, products and the account. `erase`: erase end users. `webhooks`: listen to events, redeliver
 * events and send test events. `analytics`: read counts of visitors and orders.
 */
export type Scope = (typeof SCOPES)[number]

export const ScopeList = Type.Array(Type.Enum([...SCOPES]))

/** Null: no restriction. */
export interface KeyRestrictions {
  readonly scopes: Static<typeof ScopeList> | null
  readonly expiresAt: Date | null
  /** IP ranges from which the key may be used. */
  readonly allowedCidrs: readonly string[] | null
}

export const UNRESTRICTED: KeyRestrictions = { scopes: null, expiresAt: null, allowedCidrs: null }

const MAX_CIDRS = 50

/**
 * Returns the restrictions with single addresses converted to ranges. Throws `VALIDATION_FAILED` for restrictions that
 * are invalid, have expired or do not fit the kind of key: a publishable key is used by any browser, for one purpose.
 */
export function readRestrictions(kind: KeyKind, restrictions: KeyRestrictions): KeyRestrictions {
  const { scopes, expiresAt, allowedCidrs } = restrictions
  if (kind === 'publishable' && scopes !== null) throw invalid('scopes', 'are for secret keys only')
  if (kind === 'publishable' && allowedCidrs !== null) throw invalid('cidrs', 'are for secret keys only')
  if (scopes?.length === 0) throw invalid('scopes', `must name at least one of ${SCOPES.join(', ')}`)
  if (expiresAt !== null && !(expiresAt.getTime() > Date.now()))
    throw invalid('expires', 'must be a time in the future')
  if (allowedCidrs !== null && (allowedCidrs.length === 0 || allowedCidrs.length > MAX_CIDRS))
    throw invalid('cidrs', `must have 1 to ${MAX_CIDRS} CIDR ranges`)
  return { scopes, expiresAt, allowedCidrs: allowedCidrs?.map(readRange) ?? null }
}

function readRange(text: string): string {
  try {
    const [network, bits] = ipaddr.parseCIDR(ipaddr.isValid(text) ? `${text}/${text.includes(':') ? 128 : 32}` : text)
    return `${network.toString()}/${bits}`
  } catch {
    throw invalid('cidrs', `must be IP addresses or CIDR ranges such as 203.0.113.0/24, not "${text.slice(0, 60)}"`)
  }
}

/** Throws `FORBIDDEN` with the scopes of which the key needs one. A route without scopes is for unrestricted keys. */
export function assertScope(
  { scopes }: Pick<KeyRestrictions, 'scopes'>,
  needed: readonly Scope[],
  purpose = 'This request',
): void {
  if (scopes === null || needed.some((scope) => scopes.includes(scope))) return
  const names = needed.length === 0 ? 'a key without restrictions' : `a key with the scope ${needed.join(' or ')}`
  throw new DrapeError('FORBIDDEN', `${purpose} needs ${names}. This key has: ${scopes.join(', ')}.`)
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The restrictions of the key are not valid: ${path} ${message}.`, {
    details: [{ path, message }],
  })
}
