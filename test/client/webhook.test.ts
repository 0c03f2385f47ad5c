import { describe, expect, it } from 'vitest'
import { DrapeWebhookError, verifyWebhook } from '../../api/client/index.ts'
import { generateWebhookSecret, signWebhook } from '../../api/shared/signing/webhook-signature.ts'

describe('verifyWebhook', () => {
  const [secret, other] = [generateWebhookSecret(), generateWebhookSecret()]
  const body = JSON.stringify({
    type: 'customer.erased',
    timestamp: '2026-05-12T10:00:00.000Z',
    data: { accountId: 'acc_1', externalUserId: 'Zoë' },
  })
  const now = Date.parse('2026-05-12T10:00:00.000Z')
  const received = (secrets = [secret], { text = body, at = now / 1000 } = {}) => ({
    body: text,
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(at),
      'webhook-signature': signWebhook({ id: 'msg_1', timestamp: at, body }, secrets),
    },
  })

  it('returns a signed event from a string or bytes, with a headers object or fetch Headers', async () => {
    const { headers } = received()
    const message = await verifyWebhook({ body, headers }, secret, { now })
    expect(message.type === 'customer.erased' && message.data.externalUserId).toBe('Zoë')
    expect(await verifyWebhook({ body: Buffer.from(body), headers: new Headers(headers) }, secret, { now })).toEqual(
      message,
    )
  })

  it('accepts the old and the new secret during a rotation', async () => {
    await expect(verifyWebhook(received([other, secret]), secret, { now })).resolves.toHaveProperty('type')
    await expect(verifyWebhook(received([secret]), [other, secret], { now })).resolves.toHaveProperty('type')
  })

  it('rejects a wrong secret, a changed body, a timestamp off by more than 5 minutes, and missing headers', async () => {
    const assertRejected = (webhook: Parameters<typeof verifyWebhook>[0], at = now) =>
      expect(verifyWebhook(webhook, secret, { now: at })).rejects.toThrow(DrapeWebhookError)
    await assertRejected(received([other]))
    await assertRejected(received([secret], { text: body.replace('Zoë', 'Zoe') }))
    await assertRejected(received(), now + 301_000)
    await assertRejected(received(), now - 301_000)
    const { 'webhook-signature': signature, ...headers } = received().headers
    await assertRejected({ body, headers })
    await assertRejected({ body, headers: { ...headers, 'webhook-signature': signature.replace('v1,', 'v2,') } })
    await assertRejected({ body, headers: { ...headers, 'webhook-signature': 'v1,%%% v1, v1' } })
  })
})
