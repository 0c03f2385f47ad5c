import { afterAll, describe, expect, it } from 'vitest'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { formOf, readSmallPerson, startDrape } from '../../support/drape.ts'
import { createDevelopmentShop } from '../../support/shop.ts'

const LINKS = { SIGNING_SECRET: 'a key that signs' }

describe('a part of an image', async () => {
  let download: (headers: Record<string, string>) => Promise<Response>

  const drape = await startDrape({ env: LINKS })
  const shop = await createDevelopmentShop(drape)
  const body = formOf(undefined, { file: await readSmallPerson() })
  const options = { headers: shop.headers, body, key: null }
  const url = (await drape.call('POST', '/public/upload-image', options)).body.fileUrl
  const whole = await fetch(url)
  const image = Buffer.from(await whole.arrayBuffer())
  const etag = whole.headers.get('etag') ?? ''
  download = (headers) =>
    fetch(`${drape.api.url}/public/download-image?${new URLSearchParams({ url })}`, {
      headers: { ...shop.headers, ...headers },
    })
  afterAll(() => drape?.stop())

  const seen = async (answer: Response) => ({
    status: answer.status,
    range: answer.headers.get('content-range'),
    bytes: Buffer.from(await answer.arrayBuffer()),
  })

  it('is sent for one range, and the whole image for any other request', async () => {
    const last = image.length - 1
    const get = (headers: Record<string, string>) => fetch(url, { headers })
    const part = (first: number, end: number) => ({
      status: 206,
      range: `bytes ${first}-${end}/${image.length}`,
      bytes: image.subarray(first, end + 1),
    })
    const whole = { status: 200, range: null, bytes: image }
    for (const from of [get, download]) {
      expect(await seen(await from({ range: 'bytes=0-0' }))).toEqual(part(0, 0))
      expect(await seen(await from({ range: 'bytes=100-199' }))).toEqual(part(100, 199))
      expect(await seen(await from({ range: 'bytes=100-' }))).toEqual(part(100, last))
      expect(await seen(await from({ range: 'bytes=-5' }))).toEqual(part(last - 4, last))
      expect(await seen(await from({ range: 'bytes=100-99999999' }))).toEqual(part(100, last))
      expect(await seen(await from({ range: 'bytes=0-9', 'if-range': etag }))).toEqual(part(0, 9))
      for (const headers of [
        { range: 'bytes=0-9', 'if-range': '"other"' },
        { range: 'bytes=0-9', 'if-range': 'Sat, 28 Nov 2026 09:00:00 GMT' },
        ...['bytes=0-1,5-6', 'bytes=9-1', 'items=0-1', 'bytes=-', 'bytes=a-b'].map((range) => ({ range })),
      ])
        expect(await seen(await from(headers)), JSON.stringify(headers)).toEqual(whole)
      const behind = { status: 416, range: `bytes */${image.length}`, bytes: Buffer.alloc(0) }
      expect(await seen(await from({ range: `bytes=${image.length}-` }))).toEqual(behind)
      expect(await seen(await from({ range: 'bytes=-0' }))).toEqual(behind)
    }
  })

  it('is announced, and not sent to clients that have the image', async () => {
    for (const answer of [await fetch(url), await download({})])
      expect(answer.headers.get('accept-ranges')).toBe('bytes')
    const again = await fetch(url, { headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' } })
    expect(again.status).toBe(304)
  })

  it('is kept by browsers alone, for 5 minutes or until its link ends; other responses are not kept', async () => {
    const keptFor = async (link: string) => (await fetch(link)).headers.get('cache-control')
    expect(await keptFor(url)).toBe('private, max-age=300')
    const signing = { publicUrl: drape.api.url, signingSecret: LINKS.SIGNING_SECRET }
    const storage = await createStorage(drape.env.STORAGE_URL, signing)
    const key = storage.keyOf(url) ?? ''
    expect(await keptFor(await storage.signedUrl(key, { expiresInSeconds: 9 }))).toMatch(/^private, max-age=[89]$/)
    const forged = new URL(url)
    forged.searchParams.set('expires', '9')
    expect((await fetch(forged)).status).toBe(403)
    for (const path of [forged.href, '/tryon/v1/account', '/tryon/v1/none', '/healthz'])
      expect(await keptFor(new URL(path, drape.api.url).href), path).toBe('no-store')
    expect((await drape.call('GET', '/tryon/v1/account')).headers.get('cache-control')).toBe('no-store')
    storage.close()
  })
})
