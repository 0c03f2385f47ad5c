import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createFetchLimiter, limitFetches } from '../../api/http/limits/fetch-limit.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { readSample, startDrape } from '../support/drape.ts'

describe('host names whose DNS server is silent', async () => {
  const photo = await readSample('persons/astronaut.jpg')
  const shop = createServer((_, response) => response.end(photo))
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const dns = await startDnsServer({ 'shop.test': '127.0.0.1' }, { isSilent: (name) => name.endsWith('slow.test') })
  const ports = String((shop.address() as AddressInfo).port)
  const drape = await startDrape({
    credits: 100,
    env: { FETCH_DNS_SERVERS: dns.address, FETCH_ALLOW_CIDRS: '127.0.0.0/8', FETCH_ALLOW_PORTS: `80,${ports}` },
  })
  afterAll(async () => {
    await drape?.stop()
    await dns.stop()
    shop.closeAllConnections()
    shop.close()
  })

  it('do not delay other accounts, only the account that names them', async () => {
    const other = await drape.createAccount(10)
    const attacker = await drape.createAccount(100, { writesPerMinute: 10_000 })
    const tryOn = (url: string, key: string) =>
      drape.call('POST', '/tryon/v1/try-on', {
        key,
        body: {
          products: [{ images: [{ source: { url: 'http://shop.test/shirt.jpg' } }] }],
          person: { image: { source: { url } } },
        },
      })
    const slow = Array.from({ length: 60 }, (_, i) => tryOn(`http://${i}.slow.test/`, attacker.apiKey))
    while (new Set(dns.asked).size < 10) await new Promise((resolve) => setTimeout(resolve, 20))
    const started = performance.now()
    const { port } = shop.address() as AddressInfo
    const answer = await tryOn(`http://shop.test:${port}/photo.jpg`, other.apiKey)
    if (process.env.SHOW_COST)
      console.log(`COST look-up beside slow hosts: ${(performance.now() - started).toFixed()} ms`)
    expect(answer.status).toBe(201)
    const codes = (await Promise.all(slow)).map(({ body }) => body.code)
    // 10 at a time and 40 that wait; the rest is refused at once.
    expect(codes.filter((code) => code === 'RATE_LIMITED').length).toBeGreaterThanOrEqual(10)
    expect(new Set(codes)).toEqual(new Set(['RATE_LIMITED', 'CUSTOMER_IMAGE_FETCH_FAILED']))
  })
})

describe('fetches of an account', () => {
  it('have their own concurrency limit, and are refused when they wait too long', async () => {
    const hanging = Promise.withResolvers<Buffer>()
    const lanes = createFetchLimiter({ maxConcurrent: 1, maxWaiting: 1, maxWaitMs: 50 })
    const answer = (url: string) => (url === 'hang' ? hanging.promise : Promise.resolve(Buffer.from(url)))
    const fetch = limitFetches(answer, lanes)
    const first = fetch('hang', 'acc_1')
    const second = fetch('a', 'acc_1')
    await expect(fetch('b', 'acc_1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(String(await fetch('c', 'acc_2'))).toBe('c')
    await expect(second).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    hanging.resolve(Buffer.from('end'))
    expect(String(await first)).toBe('end')
    expect(String(await fetch('d', 'acc_1'))).toBe('d')
  })
})
