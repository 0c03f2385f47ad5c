import { createHash } from 'node:crypto'
import type { ShopRecord } from './shops.store.ts'
import { isSignedWith, pluginMessage, type QueryParameter, type SignedByPlugin, shopifyMessage } from './signature.ts'
import type { ClaimCheck, ShopClaim } from './signed-request.ts'

/** Problem of a signed request, for the merchant: unlike the response, it reveals whether the shop exists. */
export type SignatureCheck = Exclude<ClaimCheck, 'signature'> | 'site' | 'secret' | 'digest' | 'path' | 'text'

export interface SignatureFault {
  readonly check: SignatureCheck
  readonly hint: string
}

type SignedClaim = Exclude<ShopClaim, { platform: 'development' }>

const EMPTY_HASH = createHash('sha256').digest('hex')

/**
 * Finds out why a signature does not match by trying common mistakes of proxies. `shop` is the shop with the domain,
 * active or not, of any platform. Takes longer for an existing shop: MUST run after the response.
 */
export function findSignatureFault(claim: SignedClaim, shop: ShopRecord | null, bodyHash: string): SignatureFault {
  if (shop === null) return { check: 'site', hint: `No shop has the domain ${claim.domain}.` }
  if (shop.platform !== claim.platform) {
    const hint = `The shop's platform is ${shop.platform}, and the request is signed as one of ${claim.platform}.`
    return { check: 'site', hint }
  }
  const secrets = shop.secrets.map(({ secret }) => secret)
  if (secrets.length === 0) return { check: 'secret', hint: 'The shop has no secret. Add one.' }
  if (isSignedWith(secrets, textOf(claim, bodyHash), claim.signature)) return { check: 'site', hint: NOT_ACTIVE }
  const mistake = mistakesOf(claim, secrets, bodyHash).find((tried) =>
    isSignedWith(tried.secrets ?? secrets, tried.message, claim.signature),
  )
  return mistake ?? { check: 'secret', hint: OTHER_SECRET }
}

const NOT_ACTIVE =
  'The signature is correct, but the shop or its account is not active, or its secret was added a few seconds ago.'
const OTHER_SECRET =
  'The proxy uses another secret or signs another text than the server. Compare the text below with the text that the proxy signs. If they are equal, the secret is wrong.'

interface Mistake extends SignatureFault {
  readonly message: string
  readonly secrets?: readonly string[]
}

function mistakesOf(claim: SignedClaim, secrets: readonly string[], bodyHash: string): Mistake[] {
  const message = textOf(claim, bodyHash)
  const inSecret = secrets.map((secret) => `${secret}\n`)
  const hint = 'The proxy signs with the secret and a line break after it. Remove the line break.'
  const withLineBreak: Mistake = { check: 'secret', hint, message, secrets: inSecret }
  if (claim.platform === 'shopify') return [withLineBreak]
  const signed = { ...claim.signed, bodyHash }
  const instead = (change: Partial<SignedByPlugin>) => pluginMessage({ ...signed, ...change })
  return [
    withLineBreak,
    {
      check: 'digest',
      hint: 'The proxy signs the digest of an empty body. It must sign the SHA-256 of the body that it sends.',
      message: instead({ bodyHash: EMPTY_HASH }),
    },
    {
      check: 'digest',
      hint: 'The proxy signs no digest. The fifth line must be the SHA-256 of the body in lower-case hex, also without a body.',
      message: instead({ bodyHash: '' }),
    },
    {
      check: 'digest',
      hint: 'The proxy signs the digest in upper case. It must be lower-case hex.',
      message: instead({ bodyHash: bodyHash.toUpperCase() }),
    },
    {
      check: 'digest',
      hint: 'The proxy signs the digest in base64. It must be lower-case hex.',
      message: instead({ bodyHash: Buffer.from(bodyHash, 'hex').toString('base64') }),
    },
    {
      check: 'path',
      hint: 'The proxy signs the path without the query. It must sign the path and the query that it sends.',
      message: instead({ target: signed.target.replace(/\?.*/, '') }),
    },
    {
      check: 'path',
      hint: 'The proxy signs the path without the leading /public. It must sign the path that it sends.',
      message: instead({ target: signed.target.replace(/^\/public/, '') }),
    },
    {
      check: 'path',
      hint: 'The proxy signs the path decoded. It must sign the path and the query as it sends them.',
      message: instead({ target: decoded(signed.target) }),
    },
    {
      check: 'text',
      hint: 'The proxy signs the method in lower case. It must be in upper case.',
      message: instead({ method: signed.method.toLowerCase() }),
    },
    {
      check: 'text',
      hint: 'The proxy signs a line break after the last line. The text must end with the digest.',
      message: `${message}\n`,
    },
    {
      check: 'text',
      hint: 'The proxy ends lines with \\r\\n. They must end with \\n.',
      message: message.replaceAll('\n', '\r\n'),
    },
  ]
}

function textOf(claim: SignedClaim, bodyHash: string): string {
  return claim.platform === 'plugin' ? pluginMessage({ ...claim.signed, bodyHash }) : claim.message
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/** Parameters whose values are hidden from readers of the record: URLs of images, and customers. */
const HIDDEN = ['url', 'logged_in_customer_id']
const MAX_SHOWN = 2000

/** The text that the server signs, for comparison, without the values of `HIDDEN`. At most 2,000 characters. */
export function shownText(claim: SignedClaim, bodyHash: string): string {
  const text =
    claim.platform === 'plugin'
      ? pluginMessage({ ...claim.signed, target: hideInTarget(claim.signed.target), bodyHash })
      : shopifyMessage(claim.parameters.map(hide))
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

function hide([name, value]: QueryParameter): QueryParameter {
  return HIDDEN.includes(name) && value !== '' ? [name, '[hidden]'] : [name, value]
}

function hideInTarget(target: string): string {
  const [path, ...query] = target.split('?')
  if (query.length === 0) return path
  const parts = query.join('?').split('&')
  const shown = parts.map((part) => {
    const [name, ...value] = part.split('=')
    return isHidden(name) && value.join('') !== '' ? `${name}=[hidden]` : part
  })
  return `${path}?${shown.join('&')}`
}

function isHidden(name: string): boolean {
  return HIDDEN.includes(decoded(name.replaceAll('+', ' ')))
}
