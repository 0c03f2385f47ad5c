import { describe, expect, it } from 'vitest'
import {
  generateWebhookSecret,
  isWebhookSecret,
  signWebhook,
} from '../../../../api/shared/signing/webhook-signature.ts'

describe('the signature of a webhook', () => {
  // The vector in the tests of the standard's own libraries.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' }
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

  it('matches the published vector of the standard', () => {
    expect(signWebhook(message, [secret])).toBe(signature)
  })

  it('contains one per secret, in order', () => {
    const other = generateWebhookSecret()
    expect(signWebhook(message, [other, secret])).toBe(`${signWebhook(message, [other])} ${signature}`)
  })

  it('depends on ID, time and body, also non-ASCII', () => {
    const changes = [
      { id: 'msg_2' },
      { timestamp: 1614265331 },
      { body: '{"test": 2432232315}' },
      { body: '{"käse":"饺子"}' },
    ]
    const signatures = changes.map((change) => signWebhook({ ...message, ...change }, [secret]))
    expect(new Set([signature, ...signatures]).size).toBe(5)
  })
})

describe('a secret', () => {
  it('is random, with the length of the standard', () => {
    const secrets = Array.from({ length: 20 }, generateWebhookSecret)
    expect(new Set(secrets).size).toBe(20)
    expect(secrets.filter(isWebhookSecret)).toEqual(secrets)
  })

  const coded = (bytes: number) => `whsec_${Buffer.alloc(bytes, 255).toString('base64')}`
  it.each([
    [coded(24), true],
    [coded(64), true],
    [coded(23), false],
    [coded(65), false],
    [coded(32).slice('whsec_'.length), false],
    [coded(32).replaceAll('/', '_'), false],
    [`${coded(32)} `, false],
    ['whsec_', false],
    ['', false],
  ])('%j is valid: %s', (text, isOne) => {
    expect(isWebhookSecret(text)).toBe(isOne)
  })
})
