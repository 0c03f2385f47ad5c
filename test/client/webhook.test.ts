import { describe, expect, it } from 'vitest'
import { DrapeWebhookError, verifyWebhook } from '../../api/client/index.ts'
import { generateWebhookSecret, signWebhook } from '../../api/shared/webhook-signature.ts'

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

  it('gives what the service has signed, from text or bytes, from plain headers or those of fetch', async () => {
    const { headers } = received()
    const message = await verifyWebhook({ body, headers }, secret, { now })
    expect(message.type === 'customer.erased' && message.data.externalUserId).toBe('Zoë')
    expect(await verifyWebhook({ body: Buffer.from(body), headers: new Headers(headers) }, secret, { now })).toEqual(
      message,
    )
  })

  it('knows either secret while one is turned into another', async () => {
    await expect(verifyWebhook(received([other, secret]), secret, { now })).resolves.toHaveProperty('type')
    await expect(verifyWebhook(received([secret]), [other, secret], { now })).resolves.toHaveProperty('type')
  })

  it('refuses another secret, another body, another time and what is missing', async () => {
    const refused = (webhook: Parameters<typeof verifyWebhook>[0], at = now) =>
      expect(verifyWebhook(webhook, secret, { now: at })).rejects.toThrow(DrapeWebhookError)
    await refused(received([other]))
    await refused(received([secret], { text: body.replace('Zoë', 'Zoe') }))
    await refused(received(), now + 301_000)
    await refused(received(), now - 301_000)
    const { 'webhook-signature': signature, ...headers } = received().headers
    await refused({ body, headers })
    await refused({ body, headers: { ...headers, 'webhook-signature': signature.replace('v1,', 'v2,') } })
    await refused({ body, headers: { ...headers, 'webhook-signature': 'v1,%%% v1, v1' } })
  })
})
