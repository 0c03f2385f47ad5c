import { type AddressInfo, createServer } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { readSample, startDrape } from '../support/drape.ts'

const LOOPBACK = `
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 0177.1 017700000001 127.0.0.1. 127.255.255.254
  %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.0.0.1 127。0。0。1 ①②⑦.0.0.1 0 0x0 0.0.0.0 localhost LOCALHOST localhost.
  [::] [::0] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [::127.0.0.1] [64:ff9b::127.0.0.1]`
  .trim()
  .split(/\s+/)
const PRIVATE = `
  10.0.0.1 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 100.64.0.1 100.127.255.254 169.254.169.254 2852039166
  [fd00::1] [fe80::1] [ff02::1] 224.0.0.1 255.255.255.255 192.0.2.1 198.18.0.1 198.19.255.254 240.0.0.1 [::ffff:10.0.0.1]`
  .trim()
  .split(/\s+/)

describe('image URLs of callers', async () => {
  let visited = 0

  const canary = createServer((socket) => {
    visited++
    socket.destroy()
  }).listen(0, '::')
  await new Promise((resolve) => canary.once('listening', resolve))
  const port = (canary.address() as AddressInfo).port
  const drape = await startDrape({
    credits: 1000,
    env: { FETCH_ALLOW_CIDRS: '', FETCH_ALLOW_PORTS: `80,443,${port}` },
  })
  const { imageId } = await drape.upload(await readSample('persons/astronaut.jpg'))
  afterAll(async () => {
    await drape.stop()
    canary.close()
  })

  const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
  const countImages = () => drape.database.oneFirst(sql.unsafe`select count(*)::int from images`)
  const asPerson = (url: string) =>
    drape.call('POST', '/tryon/v1/try-on', {
      body: { products: [{ images }], person: { image: { source: { url } } } },
    })

  it('are refused for a person if they are loopback or private, in any spelling', async () => {
    const before = await countImages()
    for (const host of [...LOOPBACK, ...PRIVATE]) {
      const answer = await asPerson(`http://${host}:${port}/me.jpg`)
      expect(answer, host).toMatchObject({ status: 400, body: { code: 'CUSTOMER_IMAGE_FETCH_FAILED' } })
      expect(answer.body.message).not.toMatch(/127|local|ECONN|EHOST|private/i)
    }
    expect(visited).toBe(0)
    expect(await countImages()).toBe(before)
    expect(await drape.balance()).toBe(1000)
  })

  it('fail a generation with a refund if the URL of a product is private', async () => {
    await drape.startWorker({ FETCH_ALLOW_CIDRS: '' })
    const hosts = LOOPBACK.filter((_, i) => i % 4 === 0).concat(PRIVATE.filter((_, i) => i % 8 === 0))
    const before = await drape.balance()
    const ids = await Promise.all(
      hosts.map(async (host) => {
        const products = [{ images: [{ source: { url: `http://${host}:${port}/shirt.jpg` } }] }]
        const body = { products, person: { image: { source: { id: imageId } } } }
        return (await drape.call('POST', '/tryon/v1/try-on', { body })).body.generationId as string
      }),
    )
    for (const id of ids) {
      const ended = await drape.finish(id)
      expect(ended).toMatchObject({ status: 'FAILED', errorCode: 'PRODUCT_IMAGE_FETCH_FAILED' })
      expect(ended.errorMessage).not.toMatch(/127|local|ECONN|EHOST|private/i)
    }
    expect(visited).toBe(0)
    expect(await drape.balance()).toBe(before)
  })
})
