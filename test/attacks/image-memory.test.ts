import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { measureGrowth } from '../../scripts/benchmarks/memory.ts'
import { type Drape, formOf, readSample, startDrape } from '../support/drape.ts'
import { endlessHeic, tiledHeic } from '../support/endless-heic.ts'
import { heicImage } from '../support/heic-images.ts'
import { textPng } from '../support/odd-images.ts'

const LONG = process.env.LONG_TESTS === '1'
const SIDE = 7000
const MAX_GROWTH = 300e6
/** Images that one process decodes at once. */
const MAX_TURNS = 4

const CountRow = rowType(Type.Object({ count: Type.Integer() }))

function formWith(file: Buffer): Buffer {
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
  return Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--x--')])
}

const flat = () => {
  const background = { r: 200, g: 90, b: 40 }
  return sharp({ create: { width: SIDE, height: SIDE, channels: 3, background }, limitInputPixels: false })
}

describe('images that take much memory or time to decode', () => {
  let drape: Drape
  let photo: Buffer
  const large = heicImage('large')
  beforeAll(async () => {
    drape = await startDrape({ separate: true })
    photo = await readSample('persons/down-half-teal.jpg')
    for (let i = 0; i < 4; i++) await upload(photo)
  })
  afterAll(() => drape?.stop())
  const upload = (file: Buffer) => drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file }) })

  it('do not make the API collect its whole heap for the chunks in which they arrive', async () => {
    const countMajor = async () => {
      const text = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
      return Number(/^nodejs_gc_duration_seconds_count\{kind="major"\} (\d+)$/m.exec(text)?.[1] ?? 0)
    }
    const before = await countMajor()
    for (let i = 0; i < 20; i++) expect((await upload(Buffer.alloc(10_000_000, 1))).status).toBe(400)
    // 11 to 14 with the young generation that Node has by default.
    expect((await countMajor()) - before).toBeLessThan(6)
  })

  it('raise the memory of the API by at most 300 MB, however many come at once', async () => {
    const progressive = await flat().jpeg({ progressive: true }).toBuffer()
    const files = [
      progressive,
      progressive,
      textPng(40),
      tiledHeic(large, { width: 3000, height: 2000, columns: 1, rows: 2 }),
    ]
    if (LONG) {
      const interlaced = flat().png({ progressive: true })
      const [shallow, deep] = [interlaced.clone(), interlaced.clone().toColourspace('rgb16')]
      files.push(await shallow.toBuffer(), await deep.toBuffer(), await deep.ensureAlpha(0.5).toBuffer(), ...files)
    }
    const growth = await measureGrowth(drape.api.pid, async () => {
      for (const { status, headers, body } of await Promise.all(files.map(upload))) {
        expect([201, 400, 503]).toContain(status)
        if (status === 400) expect(body.code).toBe('INVALID_IMAGE')
        if (status === 503) expect(headers.get('retry-after')).not.toBeNull()
      }
    })
    expect(growth).toBeLessThan(MAX_GROWTH)
  })

  it('do not keep a plain photo waiting for HEIC files', async () => {
    const slow = tiledHeic(large, { width: 3000, height: 2000, columns: 2, rows: 4 })
    const answered: string[] = []
    const hostile = Array.from({ length: 6 }, async (_, i) => {
      await upload(i % 2 ? slow : endlessHeic(large))
      answered.push('heic')
    })
    await sleep(100)
    for (let i = 0; i < 3; i++) {
      await upload(photo)
      answered.push('photo')
    }
    await Promise.all(hostile)
    // In one line, all HEIC files would have been answered before the last photo.
    expect(answered.lastIndexOf('photo')).toBeLessThan(answered.length - 1)
  })

  it('of one account do not keep another account waiting, and are not decoded once their sender hangs up', async () => {
    const [sent, file] = [12, photo]
    const [attacker, other] = [await drape.createAccount(0), await drape.createAccount(0)]
    const slow = await flat().resize(4000, 4000).jpeg({ progressive: true }).toBuffer()
    const gone = new AbortController()
    let [received, answered] = [0, 0]
    const headers = { 'x-api-key': attacker.apiKey, 'content-type': 'multipart/form-data; boundary=x' }
    const uploads = Array.from({ length: sent }, async () => {
      const options = { method: 'POST', headers, signal: gone.signal }
      const request = httpRequest(`${drape.api.url}/tryon/v1/images/upload`, options)
      request.end(formWith(slow), () => received++)
      const [response] = await once(request, 'response').catch(() => [null])
      if (response !== null) answered++
      response?.resume()
    })
    await expect.poll(() => received, { timeout: 10_000 }).toBe(sent)
    await sleep(100)

    await drape.call('POST', '/tryon/v1/images/upload', { key: other.apiKey, body: formOf(undefined, { file }) })
    // What was under way when the photo came, and as much again.
    expect(answered).toBeLessThan(sent - MAX_TURNS)
    gone.abort()
    await Promise.all(uploads)
    // Behind all that would still be decoded.
    await drape.call('POST', '/tryon/v1/images/upload', { key: attacker.apiKey, body: formOf(undefined, { file }) })
    const stored = await drape.database.oneFirst(
      sql.type(CountRow)`select count(*)::int as count from images where account_id = ${attacker.id}`,
    )
    expect(stored).toBeLessThanOrEqual(answered + MAX_TURNS)
  })
})
