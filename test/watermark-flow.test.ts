import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../api/shared/database/database.ts'
import { type Bitmap, decodeImage } from '../api/shared/image/image.ts'
import { createCommandLine } from './support/command-line.ts'
import { type Drape, shrink, startDrape } from './support/drape.ts'

function expectEqualBitmaps(bitmap: Bitmap, other: Bitmap): void {
  expect([bitmap.width, bitmap.height]).toEqual([other.width, other.height])
  expect(Buffer.compare(bitmap.data, other.data)).toBe(0)
}

describe('the watermark of an account', () => {
  let drape: Drape
  let person: Buffer
  let shirt: Buffer
  /** The result that declines the logo. */
  let plain: Awaited<ReturnType<typeof tryOn>>
  const file = join(tmpdir(), `drape-watermark-${process.pid}.png`)

  // The command runs asynchronously: meanwhile this process must notice that the API closes idle connections.
  const cli = (...args: string[]) => createCommandLine(drape.env.DATABASE_URL, drape.env).answered(...args)

  async function setLogo(background: string): Promise<string> {
    await sharp({ create: { width: 300, height: 100, channels: 4, background } })
      .png()
      .toFile(file)
    return (await cli('account', 'logo', '--account', drape.accountId, '--file', file)).logo
  }

  async function tryOn(output: object): Promise<{ bitmap: Bitmap; warnings: readonly string[] }> {
    const call = {
      products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
      output: { format: 'png', ...output },
    }
    const result = await drape.finish(await drape.tryOn(call, { me: person, shirt }))
    expect(result.status).toBe('COMPLETED')
    const response = await fetch(result.resultImageUrl)
    return { bitmap: await decodeImage(new Uint8Array(await response.arrayBuffer())), warnings: result.warnings }
  }

  beforeAll(async () => {
    person = await shrink('scripts/samples/persons/down-half-teal.jpg')
    shirt = await shrink('scripts/samples/garments/tshirt-mustard.jpg')
    drape = await startDrape({ defaultEngines: true })
    await drape.startWorker()
    await setLogo('#ff00ff')
    plain = await tryOn({ watermark: false })
  })
  afterAll(async () => {
    await drape.stop()
    await rm(file, { force: true })
  })

  it('is drawn in the bottom-left corner only, unless the call declines it', async () => {
    const { bitmap, warnings } = await tryOn({})
    expect(warnings).toEqual(plain.warnings)
    const { width, height } = bitmap
    const margin = Math.round(0.03 * width)
    const marked = { right: margin + Math.round(0.18 * width), top: height - margin - Math.round(0.06 * width) }
    for (let i = 0; i < width * height; i++) {
      const [x, y] = [i % width, Math.floor(i / width)]
      const inside = x >= margin && x < marked.right && y >= marked.top && y < height - margin
      // Under the logo's magenta little green is left; everywhere else, every channel is the same.
      if (inside) expect(bitmap.data[i * 3 + 1]).toBeLessThan(60)
      else if ([0, 1, 2].some((c) => bitmap.data[i * 3 + c] !== plain.bitmap.data[i * 3 + c])) expect.fail(`${x}, ${y}`)
    }
  })

  it('is not drawn on results of the mock engine', async () => {
    const marked = await tryOn({ engine: 'mock' })
    const declined = await tryOn({ engine: 'mock', watermark: false })
    expectEqualBitmaps(marked.bitmap, declined.bitmap)
    expect(marked.warnings).toEqual([])
  })

  it('is skipped with a warning if the logo is missing in the storage', async () => {
    const key = await setLogo('#00ff00')
    await rm(join(drape.env.STORAGE_URL.slice('file:'.length), key))
    const { bitmap, warnings } = await tryOn({})
    expectEqualBitmaps(bitmap, plain.bitmap)
    expect(warnings).toEqual([...plain.warnings, 'WATERMARK_MISSING'])
  })

  it('is turned off when the logo is removed', async () => {
    expect(await cli('account', 'logo', '--account', drape.accountId, '--remove')).toEqual({ logo: null })
    const { accountId, database } = drape
    expect(await database.oneFirst(sql.unsafe`select logo_key from accounts where id = ${accountId}`)).toBeNull()
  })
})
