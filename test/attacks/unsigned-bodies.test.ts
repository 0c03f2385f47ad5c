import { randomBytes } from 'node:crypto'
import { type ClientRequest, request } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { startDrape } from '../support/drape.ts'
import { createSignedShop } from '../support/shop.ts'
import { send, signedByPlugin } from '../support/shop-proxies.ts'

const MB = 1024 * 1024
const SHOP = { domain: 'shirts.example', secret: randomBytes(32).toString('base64url') }

describe('stalled bodies without a valid signature', async () => {
  const stalled: ClientRequest[] = []
  const drape = await startDrape({ separate: true, env: { PROXY_HOPS: '1' } })
  await createSignedShop(drape, SHOP, { platform: 'plugin' })
  afterAll(async () => {
    for (const call of stalled) call.destroy()
    await drape.stop()
  })

  const memory = async () => {
    const text = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
    return Number(/^process_resident_memory_bytes(?:\{.*?\})? (\S+)/m.exec(text)?.[1]) / MB
  }
  const ask = async (address: string) => {
    const body = JSON.stringify({ email: 'not an address' })
    const headers = [
      ['Content-Type', 'application/json'],
      ['X-Forwarded-For', address],
    ] as const
    return send(
      drape.api.url,
      signedByPlugin(SHOP, { method: 'POST', path: '/public/share-generation', headers, body }),
    )
  }
  /** Sends most of a body and never its end; resolves when it is sent or refused. */
  const stall = (path: string, { bytes, address }: { bytes: number; address: string }) => {
    const call = request(drape.api.url + path, {
      method: 'POST',
      headers: {
        'x-forwarded-for': address,
        'x-drape-site': SHOP.domain,
        'x-drape-timestamp': String(Math.floor(Date.now() / 1000)),
        'x-drape-nonce': 'n',
        'x-drape-signature': '0'.repeat(64),
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': String(bytes),
      },
    })
    stalled.push(call)
    const done = Promise.withResolvers<number>()
    call.on('error', () => done.resolve(0)).on('response', ({ statusCode = 0 }) => done.resolve(statusCode))
    call.write(Buffer.alloc(bytes - 1), () => done.resolve(0))
    return done.promise
  }

  it('do not delay a real shop, and use little memory', async () => {
    const before = await memory()
    expect((await ask('203.0.113.1')).status).toBe(400)
    const outcomes = await Promise.all(
      Array.from({ length: 72 }, (_, i) => {
        const path = ['/public/upload-image', '/webhooks/shopify', '/storefront/v1/events'][i % 3]
        return stall(path, { bytes: i % 3 === 0 ? 11 * MB : MB, address: `198.51.100.${i}` })
      }),
    )
    const grown = (await memory()) - before
    if (process.env.SHOW_COST)
      console.log(`COST ${grown.toFixed()} MB, refused ${outcomes.filter((status) => status === 503).length}`)
    expect(outcomes).toContain(503)
    expect((await ask('203.0.113.1')).status).toBe(400)
    expect(grown).toBeLessThan(250)
  })

  it('are never buffered in memory as a whole', async () => {
    await createSignedShop(drape, { domain: 'large.myshopify.com', secret: 'hush' })
    const before = await memory()
    const body = Buffer.alloc(3 * MB, 'x')
    const send = async (i: number) => {
      const { status } = await fetch(`${drape.api.url}/webhooks/shopify`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `192.0.2.${i}`,
          'x-shopify-shop-domain': 'large.myshopify.com',
          'x-shopify-hmac-sha256': Buffer.alloc(32).toString('base64'),
        },
        body,
      })
      return status
    }
    for (const call of stalled.splice(0)) call.destroy()
    let peak = 0
    let isOver = false
    const watching = (async () => {
      while (!isOver) peak = Math.max(peak, await memory())
    })()
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, i) => send(i)))
    isOver = true
    await watching
    if (process.env.SHOW_COST) console.log(`COST ${(peak - before).toFixed()} MB`, statuses.join())
    expect(new Set(statuses)).toEqual(new Set([401]))
    // The bodies have 90 MB.
    expect(peak - before).toBeLessThan(65)
  })
})
