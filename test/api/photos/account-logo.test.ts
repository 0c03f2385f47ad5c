import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { storeLogo } from '../../../api/photos/account-logo.ts'
import { createLogos } from '../../../api/photos/logos.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { type Bitmap, decodeImage, encodeImage } from '../../../api/shared/image/image.ts'
import { createObjects } from '../../../api/shared/storage/objects.store.ts'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

function logoOf(width: number, height: number, colour: readonly number[]): Promise<Buffer> {
  const data = Uint8Array.from({ length: width * height * 4 }, (_, i) => colour[i % 4])
  const bitmap: Bitmap = { width, height, channels: 4, data }
  return encodeImage(bitmap, { format: 'png' })
}

describe("an account's logo", async () => {
  const { database } = await openTestDatabase({ poolSize: 4 })

  const folder = await mkdtemp(join(tmpdir(), 'drape-logo-'))
  const storage = await createStorage(`file:${folder}`, { publicUrl: '', signingSecret: '' })
  const objects = createObjects(database)
  const parts = { accounts: createAccounts(database), objects, storage }
  const logos = createLogos(database)
  afterAll(async () => {
    storage.close()
    await rm(folder, { recursive: true })
  })

  const secondsLeft = async (key: string): Promise<number | null> => {
    const seconds = await database.oneFirst(sql.unsafe`
      select extract(epoch from expires_at - now()) from objects where key = ${key} and kind = 'logo'`)
    return seconds === null ? null : Number(seconds)
  }

  const setLogo = async (logo: { accountId: string; file: Uint8Array }) => {
    const key = await storeLogo(logo, parts)
    await logos.replace({ accountId: logo.accountId, key })
    return key
  }

  /** The payload of one more accepted call, as a worker gets it. */
  async function accept(caller: { accountId: string; imageId: string }, watermark = true) {
    const call = callOf(caller)
    await acceptGeneration(database, { ...call, options: { ...call.options, watermark } })
    return database.oneFirst(sql.unsafe`select payload from outbox where generation_id = ${call.generationId}`)
  }

  it('is stored as PNG with alpha, and part of every job accepted afterwards', async () => {
    const caller = await createCaller(database, 5)
    expect(await accept(caller)).toMatchObject({ logoKey: null })
    const key = await setLogo({ ...caller, file: await logoOf(90, 40, [200, 30, 30, 120]) })
    expect(key).toMatch(new RegExp(`^logos/${caller.accountId}/[0-9a-f]{64}\\.png$`))
    const png = (await storage.get(key)) ?? new Uint8Array()
    expect(await database.oneFirst(sql.unsafe`select bytes from objects where key = ${key}`)).toBe(png.length)
    const stored = await decodeImage(png)
    expect(stored).toMatchObject({ width: 90, height: 40, channels: 4 })
    expect([...stored.data.subarray(0, 4)]).toEqual([200, 30, 30, 120])
    expect(await secondsLeft(key)).toBeNull()
    expect(await accept(caller)).toMatchObject({ logoKey: key, options: { watermark: true } })
    expect(await accept(caller, false)).toMatchObject({ logoKey: null })
  })

  it('is used for its account only', async () => {
    const [marked, other] = [await createCaller(database, 1), await createCaller(database, 1)]
    await setLogo({ ...marked, file: await logoOf(20, 20, [0, 0, 0, 255]) })
    expect(await accept(other)).toMatchObject({ logoKey: null })
  })

  it('is downscaled to 1,000 px', async () => {
    const caller = await createCaller(database, 1)
    const key = await setLogo({ ...caller, file: await logoOf(3000, 150, [1, 2, 3, 255]) })
    expect(await decodeImage((await storage.get(key)) ?? new Uint8Array())).toMatchObject({ width: 1000, height: 50 })
  })

  it('is kept for a day after its replacement, for accepted jobs, and can be restored', async () => {
    const caller = await createCaller(database, 1)
    const [red, blue] = [await logoOf(30, 30, [255, 0, 0, 255]), await logoOf(30, 30, [0, 0, 255, 255])]
    const first = await setLogo({ ...caller, file: red })
    const second = await setLogo({ ...caller, file: blue })
    expect(await secondsLeft(first)).toBeGreaterThan(86_000)
    expect(await secondsLeft(second)).toBeNull()
    expect(await setLogo({ ...caller, file: red })).toBe(first)
    expect(await secondsLeft(first)).toBeNull()
    expect(await secondsLeft(second)).toBeGreaterThan(86_000)
    expect(await accept(caller)).toMatchObject({ logoKey: first })
  })

  it('can be removed', async () => {
    const caller = await createCaller(database, 1)
    const key = await setLogo({ ...caller, file: await logoOf(30, 30, [9, 9, 9, 255]) })
    await logos.replace({ accountId: caller.accountId, key: null })
    expect(await secondsLeft(key)).toBeGreaterThan(86_000)
    expect(await accept(caller)).toMatchObject({ logoKey: null })
  })

  it('is refused for an unknown account, and if it is not an image', async () => {
    const caller = await createCaller(database, 0)
    const file = await logoOf(30, 30, [9, 9, 9, 255])
    const notFound = { code: 'ACCOUNT_NOT_FOUND' }
    await expect(setLogo({ accountId: 'acc_nobody', file })).rejects.toMatchObject(notFound)
    await expect(logos.replace({ accountId: 'acc_nobody', key: null })).rejects.toMatchObject(notFound)
    const page = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
    await expect(setLogo({ ...caller, file: page })).rejects.toMatchObject({ code: 'UNSUPPORTED_IMAGE_TYPE' })
  })
})
