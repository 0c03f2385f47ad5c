import type { IncomingMessage } from 'node:http'
import { DrapeError } from '../shared/errors.ts'
import { decodeQuery, type QueryParameter, type SignedByPlugin, shopifyMessage } from './signature.ts'

/** What a request claims, still unproven. */
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
      /** Until when another request with this nonce could be taken for this one. */
      readonly nonce: { readonly value: string; readonly expiresAt: Date }
      /** All that is signed but the hash of the body. */
      readonly signed: Omit<SignedByPlugin, 'bodyHash'>
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
const SIGNATURE = /^[0-9a-f]{64}$/
const NONCE = /^[!-~]{1,128}$/

/**
 * The claim that a request makes. Takes shop and customer only from what the signature covers. `now` in ms. Throws
 * `PROXY_SIGNATURE_INVALID` when no proxy would write it so (check `format`), or not now (check `clock`).
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

/** What is wrong with a claim, as callers see it. `signature` does not say whether the shop exists. */
export type ClaimCheck = 'format' | 'clock' | 'body' | 'signature' | 'nonce'

/**
 * The answer to a claim that is not believed. The message is for strangers: it repeats at most what the request itself says.
 * `now` in ms.
 */
export function claimRefused(check: ClaimCheck, message: string, now: number): DrapeError {
  return new DrapeError('PROXY_SIGNATURE_INVALID', `The request is not signed by the proxy of a shop. ${message}`, {
    details: { check, serverTime: new Date(now).toISOString() },
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
      'It has neither the header X-Drape-Signature of a plugin nor the parameter signature of an app proxy.'
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
  if (parameters === null) throw claimRefused('format', 'Its query is not percent-encoded UTF-8.', now)
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
    `Its timestamp ${timestamp} is ${apart} the clock of the server; at most ${WINDOW_SECONDS} s are allowed.`,
    now,
  )
}

/** Null for no customer. */
function readCustomer(parameters: readonly QueryParameter[], now: number): string | null {
  const sent = valuesOf(parameters, 'logged_in_customer_id')
  if (sent.length === 0 || (sent.length === 1 && sent[0] === '')) return null
  if (sent.length === 1 && CUSTOMER.test(sent[0])) return sent[0]
  throw claimRefused('format', 'The parameter logged_in_customer_id must be sent once, with an ID or empty.', now)
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
