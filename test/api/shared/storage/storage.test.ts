import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attachment } from '../../../../api/shared/storage/attachment.ts'
import { contentTypeOf } from '../../../../api/shared/storage/object.ts'
import { signObjectLink, verifyObjectLink } from '../../../../api/shared/storage/object-link.ts'
import { createStorage, type ObjectStorage } from '../../../../api/shared/storage/storage.ts'
import { behavesAsStorage } from '../../../support/storage-behaviour.ts'

const LINKS = { publicUrl: 'https://fit.example/base/', signingSecret: 'hush' }
let folder: string
let storage: ObjectStorage

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drape-objects-'))
  storage = await createStorage(`file:${folder}/objects`, LINKS)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('file storage', () => {
  behavesAsStorage(() => storage)

  it('leaves no incomplete file behind', async () => {
    expect(await readdir(join(folder, 'objects', '.incomplete'))).toEqual([])
  })

  it.each([
    ['relative', () => `file:./${relative('.', folder)}/objects`],
    ['absolute', () => `file:${folder}/objects`],
    ['absolute with slashes', () => pathToFileURL(join(folder, 'objects')).href],
  ])('finds the same objects by a URL that is %s', async (_, url) => {
    await storage.put('same.jpg', Buffer.from('same'), { contentType: 'image/jpeg' })
    expect(String(await (await createStorage(url(), LINKS)).get('same.jpg'))).toBe('same')
  })

  it('creates links to the API that are valid only for their key, name and time', async () => {
    const url = new URL(
      await storage.signedUrl('results/a.jpg', { expiresInSeconds: 60, filename: 'Blue coat & hat.jpg' }),
    )
    expect(`${url.origin}${url.pathname}`).toBe('https://fit.example/base/objects/results/a.jpg')
    expect(url.searchParams.get('filename')).toBe('Blue coat & hat.jpg')
    const link = { key: 'results/a.jpg', query: url.searchParams, secret: 'hush', now: Date.now() }
    expect(verifyObjectLink(link)).toBe(true)
    expect(verifyObjectLink({ ...link, now: Date.now() + 62_000 })).toBe(false)
  })

  it('reports an unusable folder as a retryable error', async () => {
    await writeFile(join(folder, 'a-file'), 'not a folder')
    const broken = await createStorage(`file:${folder}/a-file`, LINKS)
    const fault = { code: 'SERVICE_UNAVAILABLE', retryable: true }
    await expect(broken.check()).rejects.toMatchObject(fault)
    await expect(broken.get('a.jpg')).rejects.toMatchObject(fault)
    await expect(broken.put('a.jpg', Buffer.from('x'), { contentType: 'image/jpeg' })).rejects.toMatchObject(fault)
  })

  it('signs nothing without a secret', async () => {
    const unsigned = await createStorage(`file:${folder}/objects`, { ...LINKS, signingSecret: '' })
    await expect(unsigned.signedUrl('a.jpg', { expiresInSeconds: 60 })).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
    })
  })
})

describe('links to objects', () => {
  const key = 'results/a.jpg'
  const secret = 'hush'
  const now = Date.UTC(2026, 5, 17)
  const query = signObjectLink({ key, secret, expiresAt: now + 60_000, filename: 'coat.jpg' })
  const changed = (name: string, value: string) => {
    const other = new URLSearchParams(query)
    other.set(name, value)
    return other
  }
  const without = (name: string) => new URLSearchParams([...query].filter(([each]) => each !== name))

  it('are valid until they expire', () => {
    expect(verifyObjectLink({ key, secret, query, now })).toBe(true)
    expect(verifyObjectLink({ key, secret, query, now: now + 60_000 })).toBe(true)
    expect(verifyObjectLink({ key, secret, query, now: now + 61_000 })).toBe(false)
  })

  it('are valid with additional parameters', () => {
    expect(verifyObjectLink({ key, secret, query: changed('width', '300'), now })).toBe(true)
  })

  it.each([
    ['another key', { key: 'results/b.jpg' }],
    ['another secret', { secret: 'hush2' }],
    ['a later expiry', { query: changed('expires', String(now)) }],
    ['an expiry that is no number', { query: changed('expires', 'never') }],
    ['another name', { query: changed('filename', 'coat.exe') }],
    ['no name', { query: without('filename') }],
    ['no expiry', { query: without('expires') }],
    ['no signature', { query: without('signature') }],
    ['an empty signature', { query: changed('signature', '') }],
    ['a signature of other length', { query: changed('signature', `${query.get('signature')}A`) }],
    ['a signature in another alphabet', { query: changed('signature', 'ü'.repeat(43)) }],
    ['nothing', { query: new URLSearchParams() }],
  ])('are invalid with %s', (_, difference) => {
    expect(verifyObjectLink({ key, secret, query, now, ...difference })).toBe(false)
  })
})

describe('the storage URL', () => {
  it.each(['', 'http://bucket/prefix', 'gs://bucket', '/data/objects', 's3:bucket'])('cannot be %j', async (url) => {
    await expect(createStorage(url, LINKS)).rejects.toThrow(/must be file:/)
  })
})

describe('contentTypeOf', () => {
  it('derives the media type from the extension', () => {
    expect(['a.jpg', 'b/c.png', 'd.webp', 'e.bin'].map(contentTypeOf)).toEqual([
      'image/jpeg',
      'image/png',
      'image/webp',
      'application/octet-stream',
    ])
  })
})

describe('attachment', () => {
  it('names the download in ASCII and in UTF-8', () => {
    expect(attachment('Drape - Your Try On.jpg')).toBe(
      `attachment; filename="Drape - Your Try On.jpg"; filename*=UTF-8''Drape%20-%20Your%20Try%20On.jpg`,
    )
    expect(attachment('Mäntel.jpg')).toBe(`attachment; filename="M_ntel.jpg"; filename*=UTF-8''M%C3%A4ntel.jpg`)
  })

  it.each([
    ['a quote', 'a".jpg', 'a%22.jpg'],
    ['a header of its own', 'a.jpg\r\nSet-Cookie: x=1', 'a.jpgSet-Cookie%3A%20x%3D1'],
    ['folders', '../../etc/passwd', 'passwd'],
    ['backslashes', 'C:\\photos\\a.jpg', 'a.jpg'],
    ['a turned direction', 'photo\u202egpj.exe', 'photogpj.exe'],
    ['half a character', 'a\ud800.jpg', 'a%EF%BF%BD.jpg'],
    ['a percent sign', '100%25.jpg', '100%2525.jpg'],
    ['an apostrophe', "it's (1)*.jpg", 'it%27s%20%281%29%2A.jpg'],
    ['nothing', '', 'image'],
    ['only dots', '..', 'image'],
    ['NUL', '\0.jpg', 'jpg'],
  ])('keeps the header valid with %s', (_, filename, encoded) => {
    const header = attachment(filename)
    expect(header.split("filename*=UTF-8''")[1]).toBe(encoded)
    expect(header).toMatch(/^attachment; filename="[^"\\\p{Cc}]*"; filename\*=UTF-8''[A-Za-z0-9%._~!-]+$/u)
  })

  it('shortens a long name but not its extension', () => {
    const encoded = attachment(`${'é'.repeat(10_000)}.jpeg`).split("''")[1]
    expect(decodeURIComponent(encoded)).toBe(`${'é'.repeat(115)}.jpeg`)
  })
})
