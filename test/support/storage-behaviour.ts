import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { contentTypeOf, type StoredObject } from '../../api/shared/storage/object.ts'
import type { ObjectStorage } from '../../api/shared/storage/storage.ts'

/** Every object of the storage, or of a folder, in the order of the list. */
export async function listAll(storage: ObjectStorage, folder?: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = []
  for await (const page of storage.list(folder)) objects.push(...page)
  return objects
}

const JPEG = { contentType: 'image/jpeg' }

function withQuery(url: string, change: (query: URLSearchParams) => void): string {
  const changed = new URL(url)
  change(changed.searchParams)
  return changed.href
}

/** Tests of the behaviour that all storages share. */
export function behavesAsStorage(storage: () => ObjectStorage): void {
  it('returns the stored bytes', async () => {
    const bytes = randomBytes(300_000)
    await storage().put('persons/acc_1/img_1.jpg', bytes, JPEG)
    expect(await storage().get('persons/acc_1/img_1.jpg')).toEqual(bytes)
    expect(await storage().exists('persons/acc_1/img_1.jpg')).toBe(true)
  })

  it('stores only the given view of a larger buffer', async () => {
    await storage().put('part.png', Buffer.from('before-inside-after').subarray(7, 13), { contentType: 'image/png' })
    expect(String(await storage().get('part.png'))).toBe('inside')
  })

  it('accepts a stream', async () => {
    await storage().put('stream.webp', Readable.from([Buffer.from('one '), Buffer.from('two')]), {
      contentType: 'image/webp',
    })
    expect(String(await storage().get('stream.webp'))).toBe('one two')
  })

  it('stores nothing of an aborted stream', async () => {
    async function* broken() {
      yield Buffer.from('half')
      throw new Error('the sender is gone')
    }
    await expect(
      storage().put('broken.bin', Readable.from(broken()), { contentType: 'application/octet-stream' }),
    ).rejects.toThrow()
    expect(await storage().exists('broken.bin')).toBe(false)
  })

  it('replaces an existing object', async () => {
    await storage().put('twice.jpg', Buffer.from('a longer first text'), JPEG)
    await storage().put('twice.jpg', Buffer.from('second'), JPEG)
    expect(String(await storage().get('twice.jpg'))).toBe('second')
  })

  it('opens an object as a stream of known length', async () => {
    const bytes = randomBytes(300_000)
    await storage().put('opened.jpg', bytes, JPEG)
    const opened = await storage().open('opened.jpg')
    expect(opened?.bytes).toBe(300_000)
    expect(await buffer(opened?.content ?? Readable.from([]))).toEqual(bytes)
  })

  it('opens an empty object', async () => {
    await storage().put('empty.webp', Buffer.alloc(0), { contentType: 'image/webp' })
    const opened = await storage().open('empty.webp')
    expect(opened?.bytes).toBe(0)
    expect(await buffer(opened?.content ?? Readable.from(['none']))).toEqual(Buffer.alloc(0))
  })

  it('remains usable when a stream is not read to its end', async () => {
    await storage().put('left.jpg', randomBytes(2_000_000), JPEG)
    for (let i = 0; i < 60; i++) {
      const opened = await storage().open('left.jpg')
      opened?.content.destroy()
    }
    expect((await storage().get('left.jpg'))?.length).toBe(2_000_000)
  })

  it('returns null for an unknown object', async () => {
    expect(await storage().get('persons/nobody.jpg')).toBeNull()
    expect(await storage().open('persons/nobody.jpg')).toBeNull()
    expect(await storage().exists('persons/nobody.jpg')).toBe(false)
  })

  it('distinguishes an empty object from a missing object', async () => {
    await storage().put('empty.jpg', Buffer.alloc(0), JPEG)
    expect(await storage().get('empty.jpg')).toEqual(Buffer.alloc(0))
  })

  it('deletes many objects at once, including missing objects', async () => {
    const keys = Array.from({ length: 40 }, (_, i) => `many/${i}.jpg`)
    await Promise.all(keys.map((key) => storage().put(key, Buffer.from(key), JPEG)))
    await storage().put('many/kept.jpg', Buffer.from('kept'), JPEG)
    const withMissing = [...keys, ...Array.from({ length: 1100 }, (_, i) => `missing/${i}.jpg`)]
    await storage().delete(withMissing)
    await storage().delete(withMissing)
    await storage().delete([])
    const left = await Promise.all(keys.map((key) => storage().exists(key)))
    expect(left.filter(Boolean)).toHaveLength(0)
    expect(await storage().exists('many/kept.jpg')).toBe(true)
  })

  it.each([
    '../outside.jpg',
    'a/../../outside.jpg',
    '/etc/passwd.jpg',
    'a//b.jpg',
    './a.jpg',
    'a\\b.jpg',
    'a\0.jpg',
    'a b.jpg',
    'ä.jpg',
    '.hidden.jpg',
    'noextension',
    'page.html',
    'a.jpg/b.jpg',
    'a.jpg\n',
    '',
    `${'long/'.repeat(120)}a.jpg`,
    `${'x'.repeat(300)}.jpg`,
  ])('refuses the key %j everywhere', async (key) => {
    const refusal = { code: 'INTERNAL_ERROR', retryable: false }
    await expect(storage().put(key, Buffer.from('x'), JPEG)).rejects.toMatchObject(refusal)
    await expect(storage().get(key)).rejects.toMatchObject(refusal)
    await expect(storage().open(key)).rejects.toMatchObject(refusal)
    await expect(storage().exists(key)).rejects.toMatchObject(refusal)
    await expect(storage().delete(['fine.jpg', key])).rejects.toMatchObject(refusal)
    await expect(storage().signedUrl(key, { expiresInSeconds: 60 })).rejects.toMatchObject(refusal)
  })

  it('rejects content that does not match its key', async () => {
    await expect(storage().put('a.png', Buffer.from('x'), JPEG)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
  })

  it('parses the key of its own links only', async () => {
    const url = await storage().signedUrl('results/acc_1/gen_1.jpg', { expiresInSeconds: 60, filename: 'My look.jpg' })
    expect(storage().keyOf(url)).toBe('results/acc_1/gen_1.jpg')
    const { origin, pathname } = new URL(url)
    expect(storage().keyOf(`${origin}${pathname}`)).toBe('results/acc_1/gen_1.jpg')
    for (const foreign of [
      url.replace(origin, 'https://example.com'),
      url.replace(origin, `${origin}.example.com`),
      url.replace('results/', '../results/'),
      url.replace('results/', '%2e%2e/results/'),
      'not a url',
    ]) {
      expect(storage().keyOf(foreign)).toBeNull()
    }
  })

  it('accepts only its own unchanged signed links', async () => {
    const url = await storage().signedUrl('results/acc_1/gen_1.jpg', { expiresInSeconds: 60, filename: 'My look.jpg' })
    expect(await storage().isSignedUrl(url)).toBe(true)
    const plain = await storage().signedUrl('results/acc_1/gen_1.jpg', { expiresInSeconds: 60 })
    expect(await storage().isSignedUrl(plain)).toBe(true)
    const { origin, pathname, searchParams } = new URL(plain)
    const names = [...searchParams.keys()]
    for (const changed of [
      `${origin}${pathname}`,
      plain.replace('gen_1', 'gen_2'),
      plain.replace(origin, 'https://example.com'),
      `${plain}x`,
      ...names.map((name) => withQuery(plain, (query) => query.delete(name))),
      ...names.map((name) => withQuery(plain, (query) => query.set(name, '9'))),
      'not a url',
    ]) {
      expect(await storage().isSignedUrl(changed), changed).toBe(false)
    }
  })

  it('rejects an expired signed link', async () => {
    const url = await storage().signedUrl('results/acc_1/gen_1.jpg', { expiresInSeconds: 1 })
    await setTimeout(2100)
    expect(await storage().isSignedUrl(url)).toBe(false)
  })

  it('lists every object once, in the byte order of keys, with its size and age', async () => {
    const keys = [
      'list/a-b.jpg',
      'list/a.jpg',
      'list/a/c.jpg',
      'list/a/d/e.png',
      'list/ab.jpg',
      'list/b.jpg',
      'list0.jpg',
    ]
    for (const key of keys.toReversed()) {
      await storage().put(key, Buffer.from(key), { contentType: contentTypeOf(key) })
    }
    const listed = await listAll(storage())
    const found = listed.map(({ key }) => key)
    expect(found).toEqual([...new Set(found)].sort())
    expect(found.filter((key) => key.startsWith('list'))).toEqual(keys)
    const { bytes, modifiedAt } = listed.find(({ key }) => key === 'list/a/c.jpg') ?? {
      bytes: 0,
      modifiedAt: new Date(0),
    }
    expect(bytes).toBe('list/a/c.jpg'.length)
    expect(Math.abs(modifiedAt.getTime() - Date.now())).toBeLessThan(600_000)
    const folder = await listAll(storage(), 'list/a/')
    expect(folder.map(({ key }) => key)).toEqual(['list/a/c.jpg', 'list/a/d/e.png'])
    expect(await listAll(storage(), 'nothing/')).toEqual([])
    for (const after of ['list/a', 'list/a-b.jpg', 'list/a/c.jpg', 'list/a/d', 'list/b.jpg', 'list/z']) {
      const later: string[] = []
      for await (const page of storage().list('list/', { after })) later.push(...page.map(({ key }) => key))
      expect(later, after).toEqual(keys.filter((key) => key.startsWith('list/') && key > after))
    }
  })

  it('is ready', async () => {
    await expect(storage().check()).resolves.toBeUndefined()
  })
}
