import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { createLogoLoader } from '../../../worker/outputs/logo.ts'

describe('loading logos', async () => {
  const key = (name: string) => `logos/acc_1/${name}.png`
  const put = (name: string) => storage.put(key(name), Buffer.from(name), { contentType: 'image/png' })

  const folder = await mkdtemp(join(tmpdir(), 'drape-logos-'))
  const storage = await createStorage(`file:${folder}`, { publicUrl: '', signingSecret: '' })
  afterAll(async () => {
    storage.close()
    await rm(folder, { recursive: true })
  })

  it('reads a logo from storage once', async () => {
    const load = createLogoLoader(storage)
    await put('once')
    expect(Buffer.from((await load(key('once'))) ?? '').toString()).toBe('once')
    await storage.delete([key('once')])
    expect(await load(key('once'))).not.toBeNull()
  })

  it('loads a logo that was missing before', async () => {
    const load = createLogoLoader(storage)
    expect(await load(key('later'))).toBeNull()
    await put('later')
    expect(await load(key('later'))).not.toBeNull()
  })

  it('evicts the least recently used logo', async () => {
    const load = createLogoLoader(storage, { keep: 2 })
    for (const name of ['a', 'b', 'c']) await put(name)
    for (const name of ['a', 'b', 'a', 'c']) await load(key(name))
    await storage.delete(['a', 'b', 'c'].map(key))
    expect(await load(key('b'))).toBeNull()
    expect(await load(key('a'))).not.toBeNull()
    expect(await load(key('c'))).not.toBeNull()
  })
})
