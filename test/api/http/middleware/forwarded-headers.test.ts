import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { expect, it } from 'vitest'
import { trimForwarded } from '../../../../api/http/middleware/forwarded-headers.ts'

it('headers of proxies are trimmed and otherwise unchanged', async () => {
  const app = new Koa({ proxy: true, maxIpsCount: 1 })
  app.use(trimForwarded)
  app.use((ctx) => {
    const { protocol, host, ip } = ctx
    ctx.body = { protocol, host, ip, sent: ctx.get('x-forwarded-for') }
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
    headers: {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shops.example',
      'x-forwarded-for': `203.0.113.7${' '.repeat(15_000)},\t 198.51.100.9`,
    },
  })
  expect(await answer.json()).toEqual({
    protocol: 'https',
    host: 'shops.example',
    ip: '198.51.100.9',
    sent: '203.0.113.7,198.51.100.9',
  })
  server.close()
})
