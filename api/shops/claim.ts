import type { IncomingMessage } from 'node:http'
import { DrapeError } from '../shared/errors.ts'
import { decodeQuery, pluginMessage, type QueryParameter, shopifyMessage } from './signature.ts'

/** What a request claims, still unproven. */
export type ShopClaim =
  | (Claimed & { readonly platform: 'shopify'; readonly signature: string; readonly message: string })
  | (Claimed & {
      readonly platform: 'plugin'
      readonly signature: string
      /** Until when another request with this nonce could be taken for this one. */
      readonly nonce: { readonly value: string; readonly expiresAt: Date }
      readonly messageOf: (bodyHash: string) => string
    })
  | (Claimed & { readonly platform: 'development' })

interface Claimed {
  /** Of the shop. */
  readonly domain: string
  /** The shop platform's id of the customer who is logged in. */
  readonly customerId: string | null
}

/** How far the clocks of a proxy and ours may be apart, in seconds. */
const WINDOW_SECONDS = 90
/** Longer than the slowest body takes to arrive. */
const ARRIVAL_SECONDS = 300

const DOMAIN = /^[^\s\p{C}]{1,253}$/u
const CUSTOMER = /^[^\s\p{C}]{1,100}$/u
const TIMESTAMP = /^\d{1,12}$/
const NONCE = /^[!-~]{1,128}$/

/**
 * The claim that a request makes, or null when no proxy would write it so, or not now. Takes shop and customer only from what the
 * signature covers. `now` in ms.
 */
export function readShopClaim(
  request: IncomingMessage,
  { now, development }: { now: number; development: boolean },
): ShopClaim | null {
  const headers = request.headersDistinct
  if (headers['x-drape-signature']) return readPlugin(request, now)
  if (development && headers['x-drape-shop']) return readDevelopment(headers['x-drape-shop'])
  return readShopify(request, now)
}

/** The one answer to an unproven claim; it does not say what is wrong. */
export function claimRefused(): DrapeError {
  return new DrapeError('PROXY_SIGNATURE_INVALID', 'The request is not signed by the proxy of a shop.')
}

function readDevelopment(named: readonly string[]): ShopClaim | null {
  return named.length === 1 && DOMAIN.test(named[0])
    ? { platform: 'development', domain: named[0], customerId: null }
    : null
}

function readShopify(request: IncomingMessage, now: number): ShopClaim | null {
  const parameters = decodeQuery(queryOf(request))
  if (parameters === null) return null
  const domain = only(parameters, 'shop')
  const timestamp = only(parameters, 'timestamp')
  const signature = only(parameters, 'signature')
  const customerId = readCustomer(parameters)
  if (domain === null || timestamp === null || signature === null || customerId === undefined) return null
  if (!DOMAIN.test(domain) || !isTimely(timestamp, now)) return null
  const message = shopifyMessage(parameters)
  return isAmbiguous(message) ? null : { platform: 'shopify', domain, customerId, signature, message }
}

function readPlugin(request: IncomingMessage, now: number): ShopClaim | null {
  const parameters = decodeQuery(queryOf(request))
  if (parameters === null) return null
  const [domain, timestamp, nonce, signature] = ['site', 'timestamp', 'nonce', 'signature'].map((name) => {
    const sent = request.headersDistinct[`x-drape-${name}`] ?? []
    return sent.length === 1 ? sent[0] : ''
  })
  const customerId = readCustomer(parameters)
  if (!DOMAIN.test(domain) || !NONCE.test(nonce) || !isTimely(timestamp, now) || customerId === undefined) return null
  const { method = '', url: target = '' } = request
  return {
    platform: 'plugin',
    domain,
    customerId,
    signature,
    nonce: {
      value: nonce,
      expiresAt: new Date((Number(timestamp) + WINDOW_SECONDS + ARRIVAL_SECONDS) * 1000),
    },
    messageOf: (bodyHash) => pluginMessage({ method, target, timestamp, nonce, bodyHash }),
  }
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

function isTimely(timestamp: string, now: number): boolean {
  return TIMESTAMP.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= WINDOW_SECONDS
}

/** Null for no shop; undefined when the shop is unknown. */
function readCustomer(parameters: readonly QueryParameter[]): string | null | undefined {
  const sent = valuesOf(parameters, 'logged_in_customer_id')
  if (sent.length === 0 || (sent.length === 1 && sent[0] === '')) return null
  return sent.length === 1 && CUSTOMER.test(sent[0]) ? sent[0] : undefined
}

function only(parameters: readonly QueryParameter[], name: string): string | null {
  const values = valuesOf(parameters, name)
  return values.length === 1 ? values[0] : null
}

function valuesOf(parameters: readonly QueryParameter[], sought: string): string[] {
  return parameters.filter(([name]) => name === sought).map(([, value]) => value)
}

/**
 * With nothing between its parameters, one signed text can be cut into others than those that were signed: a caller who may add a
 * parameter of their own to a request could write `shop=` into it, and hide the true one in the parameter before. Then the name
 * stands in the text twice.
 */
function isAmbiguous(message: string): boolean {
  return ['shop=', 'timestamp=', 'logged_in_customer_id='].some(
    (name) => message.indexOf(name) !== message.lastIndexOf(name),
  )
}
