import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../api/shared/database/database.ts'
import { type Bitmap, decodeImage } from '../api/shared/image.ts'
import { createCommandLine } from './support/command-line.ts'
import { type Drape, readSample, startDrape } from './support/drape.ts'

function expectSame(picture: Bitmap, other: Bitmap): void {
  expect([picture.width, picture.height]).toEqual([other.width, other.height])
  expect(Buffer.compare(picture.data, other.data)).toBe(0)
}

describe('the watermark of an account', () => {
  let drape: Drape
  let person: Buffer
  let shirt: Buffer
  /** The result without a logo. */
  let plain: Awaited<ReturnType<typeof tryOn>>
  const file = join(tmpdir(), `drape-watermark-${process.pid}.png`)

  // While a command runs, this process has to see that the API closes its idle connections.
  const cli = (...args: string[]) => createCommandLine(drape.env.DATABASE_URL, drape.env).answered(...args)

  async function setLogo(background: string): Promise<string> {
    await sharp({ create: { width: 300, height: 100, channels: 4, background } })
      .png()
      .toFile(file)
    return (await cli('account', 'logo', '--account', drape.accountId, '--file', file)).logo
  }

  async function tryOn(output: object): Promise<{ picture: Bitmap; warnings: readonly string[] }> {
    const call = {
      products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
      output: { format: 'png', ...output },
    }
    const result = await drape.finish(await drape.tryOn(call, { me: person, shirt }))
    expect(result.status).toBe('COMPLETED')
    const response = await fetch(result.resultImageUrl)
    return { picture: await decodeImage(new Uint8Array(await response.arrayBuffer())), warnings: result.warnings }
  }

  beforeAll(async () => {
    person = await readSample('persons/down-half-teal.jpg')
    shirt = await readSample('garments/tshirt-mustard.jpg')
    drape = await startDrape({ pictures: true })
    await drape.startWorker()
    plain = await tryOn({})
  })
  afterAll(async () => {
    await drape.stop()
    await rm(file, { force: true })
  })

  it('marks the bottom-left corner and nothing else, unless the call declines it', async () => {
    await setLogo('#ff00ff')
    expectSame((await tryOn({ watermark: false })).picture, plain.picture)

    const { picture, warnings } = await tryOn({})
    expect(warnings).toEqual(plain.warnings)
    const { width, height } = picture
    const margin = Math.round(0.03 * width)
    const marked = { right: margin + Math.round(0.18 * width), top: height - margin - Math.round(0.06 * width) }
    for (let i = 0; i < width * height; i++) {
      const [x, y] = [i % width, Math.floor(i / width)]
      const inside = x >= margin && x < marked.right && y >= marked.top && y < height - margin
      // Under the logo's magenta little green is left; everywhere else, every channel is the same.
      if (inside) expect(picture.data[i * 3 + 1]).toBeLessThan(60)
      else if ([0, 1, 2].some((c) => picture.data[i * 3 + c] !== plain.picture.data[i * 3 + c]))
        expect.fail(`${x}, ${y}`)
    }
  })

  it('is not on what the test engine returns', async () => {
    const marked = await tryOn({ engine: 'mock' })
    const declined = await tryOn({ engine: 'mock', watermark: false })
    expectSame(marked.picture, declined.picture)
    expect(marked.warnings).toEqual([])
  })

  it('that is gone from the storage costs a warning, not the result', async () => {
    const key = await setLogo('#00ff00')
    await rm(join(drape.env.STORAGE_URL.slice('file:'.length), key))
    const { picture, warnings } = await tryOn({})
    expectSame(picture, plain.picture)
    expect(warnings).toEqual([...plain.warnings, 'WATERMARK_MISSING'])
  })

  it('ends when the logo is taken away', async () => {
    expect(await cli('account', 'logo', '--account', drape.accountId, '--remove')).toEqual({ logo: null })
    const { accountId, database } = drape
    expect(await database.oneFirst(sql.unsafe`select logo_key from accounts where id = ${accountId}`)).toBeNull()
  })
})
