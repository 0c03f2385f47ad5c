import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { createStorageQuota } from '../../../api/photos/storage-quota.ts'
import { readSample, startDrape } from '../../support/drape.ts'

describe('the storage of an account', async () => {
  const drape = await startDrape()
  const photo = await readSample('persons/astronaut.jpg')
  afterAll(() => drape.stop())

  const upload = (key: string) => {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(photo)]))
    return drape.call('POST', '/tryon/v1/images/upload', { key, body })
  }
  const fill = async (key: string) => {
    for (let uploads = 0; uploads < 100; uploads++) {
      const { status, body } = await upload(key)
      if (status !== 201) return { uploads, status, code: body.code }
    }
    throw new Error('The account has no quota')
  }

  it('is limited by its quota, even without credits', async () => {
    const small = await drape.createAccount(0, { storageMegabytes: 1 })
    const full = await fill(small.apiKey)
    expect(full).toMatchObject({ status: 402, code: 'QUOTA_EXCEEDED' })
    expect(full.uploads).toBeGreaterThan(0)
    const none = await drape.createAccount(0, { storageMegabytes: 0 })
    expect(await fill(none.apiKey)).toEqual({ uploads: 0, status: 402, code: 'QUOTA_EXCEEDED' })
    const more = await drape.createAccount(0, { storageMegabytes: 100 })
    expect((await upload(more.apiKey)).status).toBe(201)
  })

  it('counts the masks of try-ons', async () => {
    const { apiKey: key } = await drape.createAccount(9, { storageMegabytes: 1 })
    const { imageId } = (await upload(key)).body
    await fill(key)
    // As square as the photo.
    const tryOn = async (side: number) => {
      const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 }
      const create = { width: side, height: side, channels: 3 as const, background: '#000', noise }
      const body = new FormData()
      body.set('mask', new Blob([new Uint8Array(await sharp({ create }).greyscale().png().toBuffer())]), 'mask')
      const data = {
        person: { image: { source: { id: imageId } } },
        products: [{ title: 'T-shirt', images: [{ source: { url: 'https://shop.example/1.jpg' } }] }],
        output: { engine: 'mock', mask: { image: { source: { fileKey: 'mask' } } } },
      }
      body.set('data', JSON.stringify(data))
      return drape.call('POST', '/tryon/v1/try-on', { key, body })
    }
    expect((await tryOn(64)).status).toBe(201)
    expect(await tryOn(1500)).toMatchObject({ status: 402, body: { code: 'QUOTA_EXCEEDED' } })
  })
})

describe('bytes that could not be stored', () => {
  it('are available again', async () => {
    const reserve = createStorageQuota({ sumBytes: async () => 0 })
    const account = { id: 'acc_1', settings: { storageMegabytes: 1 } }
    const all = 1024 * 1024
    const failing = async () => Promise.reject(new Error('storage is unavailable'))
    await expect(reserve(account, all, failing)).rejects.toThrow('storage is unavailable')
    expect(await reserve(account, all, async () => 'stored')).toBe('stored')
    await expect(reserve(account, 1, async () => 'stored')).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
  })
})
