import { expect, it } from 'vitest'
import { readSample, readSmallPerson, startDrape } from '../../support/drape.ts'
import { startLosingLine } from '../../support/losing-line.ts'
import { createTestRedis } from '../../support/redis.ts'

it('API and worker complete try-ons though their first connections to Redis break', { timeout: 60_000 }, async () => {
  const url = new URL(await createTestRedis())
  await using line = await startLosingLine({ host: url.hostname, port: Number(url.port) })
  url.port = String(line.port)
  // The version check of BullMQ: a connection that breaks during it never recovers.
  const recover = line.loseAnswersTo('*1\r\n$4\r\nINFO\r\n')
  const drape = await startDrape({ env: { REDIS_URL: url.href } })
  try {
    await drape.startWorker()
    recover()
    const garment = { images: [{ source: { fileKey: 'shirt' } }] }
    const body = { products: [garment], person: { image: { source: { fileKey: 'me' } } } }
    const files = { me: await readSmallPerson(), shirt: await readSample('garments/tshirt-navy.jpg') }
    expect((await drape.finish(await drape.tryOn(body, files))).status).toBe('COMPLETED')
  } finally {
    await drape.stop()
  }
})
