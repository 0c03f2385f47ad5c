import { readdirSync, readFileSync } from 'node:fs'
import sharp, { type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import { hashImage } from '../../../../api/shared/image/image-hash.ts'
import { hashDistance } from '../../../support/hash-distance.ts'

const FOLDER = new URL('../../../fixtures/persons/', import.meta.url)
const photos = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.jpg'))
  .map((name) => new Uint8Array(readFileSync(new URL(name, FOLDER))))

const copies: Readonly<Record<string, (image: Sharp, size: { width: number; height: number }) => Sharp>> = {
  'a JPEG of quality 50': (image) => image.jpeg({ quality: 50 }),
  'half the size': (image, { width }) => image.resize(Math.round(width / 2)).jpeg({ quality: 80 }),
  'a WebP': (image) => image.webp({ quality: 60 }),
  'cropped by 2 % on each side': (image, { width, height }) =>
    image
      .extract({
        left: Math.round(width * 0.02),
        top: Math.round(height * 0.02),
        width: Math.round(width * 0.96),
        height: Math.round(height * 0.96),
      })
      .jpeg(),
  'with a black caption': (image, { width, height }) =>
    image
      .composite([{ input: blackBar(Math.round(width * 0.4), Math.round(height * 0.06)), gravity: 'southeast' }])
      .jpeg(),
}

function blackBar(width: number, height: number) {
  return { create: { width, height, channels: 3 as const, background: 'black' } }
}

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 180, b: 160 } } })

describe('the hash of an image', () => {
  it.each(Object.keys(copies))('is near that of a copy: %s', async (name) => {
    for (const photo of photos.filter((_, i) => i % 5 === 0)) {
      const { width, height } = await sharp(photo).metadata()
      const copy = await copies[name](sharp(photo), { width, height }).toBuffer()
      const [own, other] = [await hashImage(photo), await hashImage(copy)]
      expect(hashDistance(own?.hash ?? '', other?.hash ?? '')).toBeLessThanOrEqual(60)
    }
  })

  it('differs much from that of another photo', async () => {
    const hashes = await Promise.all(photos.map(async (photo) => (await hashImage(photo))?.hash ?? ''))
    const distances = hashes.flatMap((one, i) => hashes.slice(0, i).map((other) => hashDistance(one, other)))
    expect(distances.length).toBeGreaterThan(100)
    // The same rendered person in two garments may be near; chance is at 128.
    expect(distances.toSorted((a, b) => a - b)[Math.floor(distances.length / 2)]).toBeGreaterThan(100)
  })

  it('has a mirrored variant, which is the hash of the mirrored image', async () => {
    for (const photo of photos.slice(0, 4)) {
      const own = await hashImage(photo)
      const copy = await hashImage(await sharp(photo).flop().jpeg({ quality: 80 }).toBuffer())
      expect(hashDistance(own?.hash ?? '', copy?.mirrored ?? '')).toBeLessThanOrEqual(60)
      expect(hashDistance(own?.hash ?? '', copy?.hash ?? '')).toBeGreaterThan(60)
    }
  })

  it('is equal for a file, its bitmap and a crop of the whole image', async () => {
    const [photo] = photos
    const bitmap = await decodeImage(photo)
    const [ofFile, ofBitmap] = [await hashImage(photo), await hashImage(bitmap)]
    expect(hashDistance(ofFile?.hash ?? '', ofBitmap?.hash ?? '')).toBeLessThanOrEqual(12)
    const { width, height } = bitmap
    expect(await hashImage(bitmap, { x: 0, y: 0, width, height })).toEqual(ofBitmap)
    expect(ofBitmap?.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('does not exist for images that would match by chance: flat, nearly flat, transparent', async () => {
    const dot = { input: await plain(6, 6).negate().png().toBuffer(), left: 300, top: 200 }
    const flat = [
      plain(400, 600),
      plain(400, 600).composite([dot]),
      sharp({ create: { width: 400, height: 400, channels: 4, background: '#0000' } }),
      sharp({
        create: {
          width: 400,
          height: 400,
          channels: 3,
          background: '#888',
          noise: { type: 'gaussian', mean: 128, sigma: 4 },
        },
      }),
    ]
    for (const image of flat) expect(await hashImage(await image.png().toBuffer())).toBeNull()
  })
})
