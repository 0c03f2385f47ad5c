import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage, normaliseImage } from '../../../../api/shared/image/image.ts'
import { heicImage, IMAGE_SIZE, imageColour, pixelSeenAt } from '../../../support/heic-images.ts'
import { jpegSegments, segment } from '../../../support/jpeg-segments.ts'
import { oddImages } from '../../../support/odd-images.ts'

const FILES = await oddImages()
const EOI = Buffer.from([0xff, 0xd9])
const REFUSED = { code: 'INVALID_IMAGE' }

/** Lossy formats miss a colour by this; a chroma sample covers 2 × 2 pixels. */
const TOLERANCE = 12

describe('odd images that viewers display', () => {
  it.each(FILES)('reads a $format with $name', async ({ name, bytes }) => {
    const { width, height, data } = await decodeImage(bytes)
    const isTurned = name.includes('orientation 6')
    expect([width, height]).toEqual(
      isTurned ? [IMAGE_SIZE.height, IMAGE_SIZE.width] : [IMAGE_SIZE.width, IMAGE_SIZE.height],
    )
    for (const [x, y] of [20, 40, 100, 110].flatMap((x) => [20, 40, 100, 110].map((y) => [x, y]))) {
      const colour = imageColour(...pixelSeenAt(isTurned ? 6 : 1, x, y))
      const start = 3 * (y * width + x)
      colour.forEach((value, i) => {
        expect(Math.abs(data[start + i] - value), `channel ${i} at ${x}, ${y}`).toBeLessThan(TOLERANCE)
      })
    }
  })
})

describe('images with a missing part', async () => {
  const noise = sharp(Buffer.from(Array.from({ length: 240 * 180 * 3 }, (_, i) => (i * i * 7919) >> 5)), {
    raw: { width: 240, height: 180, channels: 3 },
  })
  const progressive = await noise.clone().jpeg({ progressive: true }).toBuffer()
  const files: [name: string, bytes: Buffer][] = [
    ['baseline JPEG', await noise.clone().jpeg().toBuffer()],
    ['progressive JPEG', progressive],
    ['PNG', await noise.clone().png().toBuffer()],
    ['interlaced PNG', await noise.clone().png({ progressive: true }).toBuffer()],
    ['lossy WebP', await noise.clone().webp().toBuffer()],
    ['lossless WebP', await noise.clone().webp({ lossless: true }).toBuffer()],
    ['HEIC', heicImage('tiles')],
  ]
  const cuts = files.flatMap(([name, bytes]) => [10, 50, 60, 90, 99].map((percent) => ({ name, bytes, percent })))

  it.each(cuts)('refuses the first $percent % of a $name', async ({ bytes, percent }) => {
    const part = bytes.subarray(0, Math.floor((bytes.length * percent) / 100))
    await expect(normaliseImage(part)).rejects.toMatchObject(REFUSED)
  })

  it.each(cuts.filter(({ name }) => name.endsWith('JPEG')))(
    'refuses the first $percent % of a $name with an end marker, another image or zeros behind',
    async ({ bytes, percent }) => {
      const part = bytes.subarray(0, Math.floor((bytes.length * percent) / 100))
      for (const ending of [EOI, Buffer.concat([EOI, bytes]), Buffer.alloc(bytes.length - part.length)]) {
        await expect(decodeImage(Buffer.concat([part, ending]))).rejects.toMatchObject(REFUSED)
      }
    },
  )

  it('refuses a progressive JPEG that ends after any scan except the last', async () => {
    const segments = jpegSegments(progressive)
    const scans = segments.flatMap((part, i) => (part[1] === 0xda ? [i] : []))
    expect(scans.length).toBeGreaterThan(4)
    for (const scan of scans.slice(0, -1)) {
      const part = Buffer.concat(segments.slice(0, scan + 1))
      await expect(decodeImage(part), `scan ${scan}`).rejects.toMatchObject(REFUSED)
    }
  })

  it('returns only refusals, whatever header byte is changed', async () => {
    const small = await noise.clone().resize(32, 32).jpeg().toBuffer()
    const outcomes = new Set<string>()
    for (let i = 3; i < 640; i += 3) {
      for (const value of [0x00, 0xff, 0xda]) {
        const changed = Buffer.from(small)
        changed[i] = value
        outcomes.add(
          await decodeImage(changed).then(
            () => 'read',
            ({ code }) => String(code),
          ),
        )
      }
    }
    expect([...outcomes].sort()).toEqual(['INVALID_IMAGE', 'read'])
  })

  it('refuses a JPEG whose end marker is in its thumbnail only', async () => {
    const [, baseline] = files[0]
    const thumbnail = segment(0xe1, Buffer.concat([Buffer.from('thumbnail'), EOI]))
    const cut = Buffer.concat([baseline.subarray(0, 2), thumbnail, baseline.subarray(2, baseline.length / 2)])
    await expect(decodeImage(cut)).rejects.toMatchObject(REFUSED)
  })
})
