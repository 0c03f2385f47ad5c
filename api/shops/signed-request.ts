import type { IncomingMessage } from 'node:http'
import { DrapeError } from '../shared/contract/errors.ts'
import { parseShopperId } from '../shared/shopper-id.ts'
import { decodeQuery, type QueryParameter, type SignedByPlugin, shopifyMessage } from './signature.ts'

/** Unverified claim of a request. */
export type ShopClaim =
  | (Claimed & {
      readonly platform: 'shopify'
      readonly signature: string
      readonly message: string
      readonly parameters: readonly QueryParameter[]
    })
  | (Claimed & {
      readonly platform: 'plugin'
      readonly signature: string
      /** The nonce, and the time until which it must be remembered. */
      readonly nonce: { readonly value: string; readonly expiresAt: Date }
      /** Signed fields except the hash of the body. */
      readonly signed: Omit<SignedByPlugin, 'bodyHash'>
    })
  | (Claimed & { readonly platform: 'development' })

interface Claimed {
  /** Domain of the shop. */
  readonly domain: string
  /** The platform's ID of the customer who is logged in. */
  readonly customerId: string | null
}

/** Maximum clock difference of a proxy and the server, in seconds. */
const WINDOW_SECONDS = 90
/** Exceeds the time in which the slowest body arrives. */
const ARRIVAL_SECONDS = 300

const DOMAIN = /^[^\s\p{C}]{1,253}$/u
const CUSTOMER = /^[^\s\p{C}]{1,100}$/u
const TIMESTAMP = /^\d{1,12}$/
const SIGNATURE = /^[0-9a-f]{64}$/
const NONCE = /^[!-~]{1,128}$/

/**
 * Parses the claim of a request. Takes shop and customer only from signed parameters. `now` in ms. Throws
 * `PROXY_SIGNATURE_INVALID` when the format is invalid (check `format`) or the timestamp is out of range (check
 * `clock`).
 */
export function readShopClaim(
  request: IncomingMessage,
  { now, development }: { now: number; development: boolean },
): ShopClaim {
  const headers = request.headersDistinct
  if (headers['x-drape-signature']) return readPlugin(request, now)
  if (development && headers['x-drape-shop']) return readDevelopment(headers['x-drape-shop'], now)
  return readShopify(request, now)
}

/** The failed check of a claim, as returned to callers. `signature` does not reveal whether the shop exists. */
export type ClaimCheck = 'format' | 'clock' | 'body' | 'signature' | 'account' | 'nonce'

/** Error for a refused claim. The message is public: it repeats at most the request's own content. `now` in ms. */
export function claimRefused(check: ClaimCheck, message: string, now: number): DrapeError {
  const prefix = check === 'account' ? '' : 'The request is not signed by the proxy of a shop. '
  return new DrapeError('PROXY_SIGNATURE_INVALID', `${prefix}${message}`, {
    details: [{ path: '', message: `failed the check ${check}`, check, serverTime: new Date(now).toISOString() }],
  })
}

function readDevelopment(named: readonly string[], now: number): ShopClaim {
  if (named.length !== 1 || !DOMAIN.test(named[0])) {
    throw claimRefused('format', 'The header X-Drape-Shop must be sent once, with the domain of the shop.', now)
  }
  return { platform: 'development', domain: named[0], customerId: null }
}

function readShopify(request: IncomingMessage, now: number): ShopClaim {
  const parameters = readQuery(request, now)
  const read = (name: string, isValid: RegExp, must: string) => {
    const values = valuesOf(parameters, name)
    if (values.length === 1 && isValid.test(values[0])) return values[0]
    throw claimRefused('format', `The parameter ${name} must be sent once, ${must}.`, now)
  }
  if (valuesOf(parameters, 'signature').length === 0) {
    const message =
      'The request has neither the header X-Drape-Signature of a plugin nor the parameter signature of an app proxy.'
    throw claimRefused('format', message, now)
  }
  const signature = read('signature', SIGNATURE, 'with 64 lower-case hexadecimal digits')
  const domain = read('shop', DOMAIN, 'with the domain of the shop')
  const timestamp = read('timestamp', TIMESTAMP, 'in seconds since 1970')
  const customerId = readCustomer(parameters, now)
  assertTimely(timestamp, now)
  const message = shopifyMessage(parameters)
  if (isAmbiguous(message)) {
    throw claimRefused('format', 'A parameter repeats shop=, timestamp= or logged_in_customer_id=.', now)
  }
  return { platform: 'shopify', domain, customerId, signature, message, parameters }
}

function readPlugin(request: IncomingMessage, now: number): ShopClaim {
  const parameters = readQuery(request, now)
  const read = (name: string, isValid: RegExp, must: string) => {
    const sent = request.headersDistinct[name.toLowerCase()] ?? []
    if (sent.length === 1 && isValid.test(sent[0])) return sent[0]
    throw claimRefused('format', `The header ${name} must be sent once, ${must}.`, now)
  }
  const domain = read('X-Drape-Site', DOMAIN, 'with the domain of the shop')
  const timestamp = read('X-Drape-Timestamp', TIMESTAMP, 'in seconds since 1970')
  const nonce = read('X-Drape-Nonce', NONCE, 'with 1 to 128 visible ASCII characters')
  const signature = read('X-Drape-Signature', SIGNATURE, 'with 64 lower-case hexadecimal digits')
  const customerId = readCustomer(parameters, now)
  assertTimely(timestamp, now)
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
    signed: { method, target, timestamp, nonce },
  }
}

function readQuery(request: IncomingMessage, now: number): QueryParameter[] {
  const parameters = decodeQuery(queryOf(request))
  if (parameters === null) throw claimRefused('format', 'The query is not percent-encoded UTF-8.', now)
  return parameters
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

function assertTimely(timestamp: string, now: number): void {
  const seconds = Math.round(Number(timestamp) - now / 1000)
  if (Math.abs(Number(timestamp) - now / 1000) <= WINDOW_SECONDS) return
  const apart = `${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'}`
  throw claimRefused(
    'clock',
    `The timestamp ${timestamp} is ${apart} the clock of the server; at most ${WINDOW_SECONDS} s are allowed.`,
    now,
  )
}

/** Null when no customer is logged in. */
function readCustomer(parameters: readonly QueryParameter[], now: number): string | null {
  const sent = valuesOf(parameters, 'logged_in_customer_id')
  if (sent.length === 0 || (sent.length === 1 && sent[0] === '')) return null
  if (sent.length === 1 && CUSTOMER.test(sent[0]) && parseShopperId(sent[0]) === null) return sent[0]
  throw claimRefused('format', 'The parameter logged_in_customer_id must be sent once, with an ID or empty.', now)
}

function valuesOf(parameters: readonly QueryParameter[], sought: string): string[] {
  return parameters.filter(([name]) => name === sought).map(([, value]) => value)
}

/**
 * Parameters are joined without a separator, so one signed text can be split into different parameters: a caller who
 * can add a parameter could put `shop=` into its value and hide the real one in the parameter before. The name occurs
 * twice in the text then.
 */
function isAmbiguous(message: string): boolean {
  return ['shop=', 'timestamp=', 'logged_in_customer_id='].some(
    (name) => message.indexOf(name) !== message.lastIndexOf(name),
  )
}
