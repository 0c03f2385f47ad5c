import { describe, expect, it } from 'vitest'
import { decodeQuery, isSignedWith, pluginMessage, shopifyMessage, signMessage } from '../../../api/shops/signature.ts'

const QUERY =
  'extra=1&extra=2&shop=shop-name.myshopify.com&path_prefix=%2Fapps%2Fawesome_reviews&timestamp=1317327555&signature=x'
const messageOf = (query: string) => shopifyMessage(decodeQuery(query) ?? [])

describe('the signature of an app proxy of Shopify', () => {
  it.each([
    ['without a customer', QUERY, 'a9718877bea71c2484f91608a7eaea1532bdf71f5c56825065fa4ccabe549ef3'],
    [
      'with a customer',
      `${QUERY}&logged_in_customer_id=1`,
      '4c68c8624d737112c91818c11017d24d334b524cb5c2b8ba08daa056f7395ddb',
    ],
  ])('matches the published vector %s', (_, query, signature) => {
    expect(signMessage(messageOf(query), 'hush')).toBe(signature)
    expect(isSignedWith(['hush'], messageOf(query), signature)).toBe(true)
  })

  it('covers parameters in any order, and repeated ones in their order', () => {
    expect(messageOf('b=2&a=1&b=1')).toBe('a=1b=2,1')
    expect(messageOf('b=2&b=1&a=1')).toBe('a=1b=2,1')
    expect(messageOf('b=1&b=2&a=1')).toBe('a=1b=1,2')
  })

  it('sorts by bytes of name and value together', () => {
    expect(messageOf('a=x&a1=y&A=z&é=1&z=2')).toBe('A=za1=ya=xz=2é=1')
    expect(messageOf('\u{ff5e}=1&\u{10000}=2')).toBe('\u{ff5e}=1\u{10000}=2')
  })

  it.each([
    ['a+b=c%20d', 'a b=c d'],
    ['a=1%2B1', 'a=1+1'],
    ['a=', 'a='],
    ['a', 'a='],
    ['=a', '=a'],
    ['a==b=', 'a==b='],
    ['&&a=1&', 'a=1'],
    ['shop=b%C3%BCcher.example', 'shop=bücher.example'],
    ['__proto__=1&constructor=2&__proto__=3', '__proto__=1,3constructor=2'],
    ['', ''],
  ])('decodes %s like a form', (query, message) => {
    expect(messageOf(query)).toBe(message)
  })

  it.each(['a=%', 'a=%2', 'a=%zz', '%ff=1', 'a=%c3', 'a=%ed%a0%80'])('is unambiguous for %s', (query) => {
    expect(decodeQuery(query)).toBeNull()
  })
})

describe('the signature of a plugin', () => {
  it('covers method, target, time, nonce and body, one line each', () => {
    const request = { method: 'POST', target: '/public/x?a=1', timestamp: '1700000000', nonce: 'n', bodyHash: 'e3b0' }
    expect(pluginMessage(request)).toBe('POST\n/public/x?a=1\n1700000000\nn\ne3b0')
  })
})

describe('a signature', () => {
  const good = signMessage('text', 'new')

  it('can be created with either of two active secrets', () => {
    expect(isSignedWith(['new', 'old'], 'text', good)).toBe(true)
    expect(isSignedWith(['newer', 'new'], 'text', good)).toBe(true)
    expect(isSignedWith(['newer', 'newest'], 'text', good)).toBe(false)
  })

  it.each([
    ['of nobody', ''],
    ['in capitals', good.toUpperCase()],
    ['in base64', Buffer.from(good, 'hex').toString('base64')],
    ['cut', good.slice(0, 62)],
    ['with more behind it', `${good}00`],
    ['with a line behind it', `${good}\n`],
    ['of zeros', '0'.repeat(64)],
  ])('%s is invalid', (_, signature) => {
    expect(isSignedWith(['new'], 'text', signature)).toBe(false)
  })

  it('is refused after a change of any bit', () => {
    for (let bit = 0; bit < 256; bit++) {
      const bytes = Buffer.from(good, 'hex')
      bytes[bit >> 3] ^= 1 << (bit & 7)
      expect(isSignedWith(['new'], 'text', bytes.toString('hex'))).toBe(false)
    }
  })

  it('cannot be valid for a shop without a secret', () => {
    expect(isSignedWith([], 'text', signMessage('text', ''))).toBe(false)
    expect(isSignedWith([], 'text', '0'.repeat(64))).toBe(false)
  })
})
