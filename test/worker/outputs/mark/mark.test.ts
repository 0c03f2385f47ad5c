import { cp, mkdtemp, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bitmap, cropBitmap, decodeImage, encodeImage, resizeBitmap } from '../../../../api/shared/image/image.ts'
import { embedMark, MAX_CHANGE, type Marked } from '../../../../worker/outputs/mark/embed.ts'
import { type Mark, openMark } from '../../../../worker/outputs/mark/mark.ts'
import { openMarkModels } from '../../../../worker/outputs/mark/mark-models.ts'
import { createMarkId } from '../../../../worker/outputs/mark/payload.ts'
import { rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { ciede2000 } from '../../../../worker/vision/raster/colour-difference.ts'
import { bitmapToColours } from '../../../../worker/vision/raster/plane.ts'
import { writeTinyMark } from '../../../support/tiny-mark.ts'

/** With the IDs that they are marked with. */
const PHOTOS = [
  ['sue-check', '9c41d07e25'],
  ['mia-tee', '71b2486fa0'],
] as const
const readPhoto = async (name: string) => decodeImage(await readFile(`test/fixtures/persons/${name}.jpg`))

const reencode = async (bitmap: Bitmap, format: 'jpeg' | 'png' | 'webp', quality: number) =>
  decodeImage(await encodeImage(bitmap, { format, quality }))
/** Leaves these shares of the width and height, of which `x` and `y` were cut off at the left and the top. */
const crop = (bitmap: Bitmap, { x = 0, y = 0, width = 1, height = 1 }) =>
  cropBitmap(bitmap, {
    x: Math.round(x * bitmap.width),
    y: Math.round(y * bitmap.height),
    width: Math.round(width * bitmap.width),
    height: Math.round(height * bitmap.height),
  })

const isEqual = (one: Bitmap, other: Bitmap) => Buffer.compare(one.data, other.data) === 0

describe('the imperceptible mark', () => {
  let folder: string
  let mark: Mark
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-mark-'))
    await writeTinyMark(folder)
    mark = await openMark(folder)
  })
  afterAll(async () => {
    await mark.release()
    await rm(folder, { recursive: true })
  })

  describe.each(PHOTOS)('of %s', (name, id) => {
    let photo: Bitmap
    let marked: Marked
    beforeAll(async () => {
      photo = await readPhoto(name)
      marked = await mark.embed(photo, id)
    })

    it('is read from a marked image, and not from an unmarked image', async () => {
      expect(marked.outcome).toMatch(/^(marked|weakened)$/)
      expect(await mark.read(marked.bitmap)).toBe(id)
      expect(await mark.read(photo)).toBeNull()
    })

    it('survives JPEG 70 and WebP 70', async () => {
      expect(await mark.read(await reencode(marked.bitmap, 'jpeg', 70))).toBe(id)
      expect(await mark.read(await reencode(marked.bitmap, 'webp', 70))).toBe(id)
    })

    it('survives half the size', async () => {
      const half = { width: Math.round(photo.width / 2), height: Math.round(photo.height / 2) }
      expect(await mark.read(await reencode(await resizeBitmap(marked.bitmap, half), 'jpeg', 90))).toBe(id)
    })

    it('survives a crop of 10 %', async () => {
      for (const cut of [
        { x: 0.05, y: 0.05, width: 0.9, height: 0.9 },
        { x: 0.1, width: 0.9 },
        { height: 0.9 },
        { x: 0.025, y: 0.025, width: 0.95, height: 0.95 },
      ])
        expect(await mark.read(await reencode(crop(marked.bitmap, cut), 'jpeg', 90))).toBe(id)
    })

    it('stays within the bound of the colour difference, over all pixels', () => {
      const [before, after] = [photo, marked.bitmap].map((bitmap) => rgbToLab(bitmapToColours(bitmap)).data)
      const differences = Float32Array.from({ length: before.length / 3 }, (_, i) =>
        ciede2000(
          [before[3 * i], before[3 * i + 1], before[3 * i + 2]],
          [after[3 * i], after[3 * i + 1], after[3 * i + 2]],
        ),
      ).sort()
      const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length
      const percentile99 = differences[Math.floor(0.99 * differences.length)]
      // The stage measures every 38th pixel.
      expect(mean).toBeLessThan(MAX_CHANGE.mean * 1.05)
      expect(percentile99).toBeLessThan(MAX_CHANGE.percentile99 * 1.05)
      expect(mean).toBeGreaterThan(0)
      expect(marked.change?.mean).toBeCloseTo(mean, 1)
    })
  })

  it('is only in the centre of a long image', async () => {
    const photo = crop(await readPhoto('mia-tee'), { height: 0.38 })
    const id = createMarkId()
    const { bitmap } = await mark.embed(photo, id)
    expect(photo.width).toBeGreaterThan(2 * photo.height)
    expect(await mark.read(bitmap)).toBe(id)
    expect(isEqual(crop(bitmap, { width: 0.2 }), crop(photo, { width: 0.2 }))).toBe(true)
  })

  it('is omitted from images that are too small', async () => {
    for (const [width, height] of [
      [1, 1],
      [1, 300],
      [16, 16],
    ]) {
      const bitmap: Bitmap = { width, height, channels: 3, data: new Uint8Array(width * height * 3).fill(128) }
      const { bitmap: same, outcome, change } = await mark.embed(bitmap, createMarkId())
      expect(same).toBe(bitmap)
      expect(outcome).toMatch(/^(visible|unreadable)$/)
      expect(change).toBeNull()
      expect(await mark.read(bitmap)).toBeNull()
    }
  })

  it('keeps the strength of a model within the bound', async () => {
    const faint = await mkdtemp(join(folder, 'faint-'))
    await writeTinyMark(faint, { amplitude: 0.003 })
    const { embed, release } = await openMark(faint)
    expect((await embed(await readPhoto('sue-check'), '9c41d07e25')).outcome).toBe('marked')
    await release()
  })

  it('of a result that is tried on again is replaced', async () => {
    const { bitmap: first } = await mark.embed(await readPhoto('mia-tee'), '71b2486fa0')
    const { bitmap: second } = await mark.embed(first, '06fa93b81d')
    expect(await mark.read(second)).toBe('06fa93b81d')
  })

  it('is omitted if a model returns values that are not finite', async () => {
    const models = await openMarkModels(folder)
    const photo = await readPhoto('mia-tee')
    const encode = async () => new Float32Array(3 * 256 * 256).fill(Number.NaN)
    expect((await embedMark(photo, createMarkId(), { ...models, encode })).bitmap).toBe(photo)
    const decode = async () => new Float32Array(100).fill(Number.NaN)
    expect((await embedMark(photo, createMarkId(), { ...models, decode })).bitmap).toBe(photo)
    await models.release()
  })

  it('is searched in images of every shape without an error, and not found in noise', async () => {
    for (const [width, height] of [
      [1, 12_000],
      [12_000, 1],
      [2, 5],
      [3, 3],
      [257, 99],
      [511, 256],
    ]) {
      const data = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 2_654_435_761) % 251)
      expect(await mark.read({ width, height, channels: 3, data })).toBeNull()
    }
  })

  it('does not depend on transparent parts, and is read from an image with alpha', async () => {
    const id = createMarkId()
    const { bitmap } = await mark.embed(await readPhoto('mia-tee'), id)
    const data = new Uint8Array(bitmap.width * bitmap.height * 4).fill(200)
    for (let i = 0; i < data.length / 4; i++) data.set(bitmap.data.subarray(3 * i, 3 * i + 3), 4 * i)
    expect(await mark.read({ ...bitmap, channels: 4, data })).toBe(id)
  })

  describe('with other models', () => {
    const opening = async (change: (copy: string) => Promise<unknown>) => {
      const copy = await mkdtemp(join(folder, 'copy-'))
      await cp(join(folder, 'encoder_Q.onnx'), join(copy, 'encoder_Q.onnx'))
      await cp(join(folder, 'decoder_Q.onnx'), join(copy, 'decoder_Q.onnx'))
      await change(copy)
      return openMark(copy)
    }

    it('refuses a decoder that does not read what the encoder writes', async () => {
      await expect(opening((copy) => writeTinyMark(copy, { decoderOrder: 3 }))).rejects.toThrow(
        /copy-\w+: the decoder does not read what the encoder writes/,
      )
    })

    it('refuses an encoder whose mark is visible, and one whose mark is too weak', async () => {
      await expect(opening((copy) => writeTinyMark(copy, { amplitude: 0.04 }))).rejects.toThrow(
        'so much that people see it',
      )
      await expect(opening((copy) => writeTinyMark(copy, { amplitude: 0.0001 }))).rejects.toThrow('does not read')
    })

    it('refuses files that are missing, damaged, swapped or of two variants', async () => {
      await expect(opening((copy) => rm(join(copy, 'decoder_Q.onnx')))).rejects.toThrow(
        'must contain an encoder and a decoder',
      )
      await expect(opening((copy) => writeTinyMark(copy, { variant: 'B' }))).rejects.toThrow('of one variant')
      await expect(opening((copy) => rm(copy, { recursive: true }))).rejects.toThrow('cannot be read')
      await expect(opening((copy) => truncate(join(copy, 'encoder_Q.onnx'), 500))).rejects.toThrow(
        'encoder_Q.onnx: cannot be opened',
      )
      await expect(opening((copy) => cp(join(copy, 'decoder_Q.onnx'), join(copy, 'encoder_Q.onnx')))).rejects.toThrow(
        'encoder_Q.onnx: must take an image 1×3×256×256 and 1×100 bits, and return an image; it takes image 1×3×256×256',
      )
    })

    it('refuses a decoder of a size that would take gigabytes', async () => {
      await opening((copy) => writeTinyMark(copy, { decoderSide: 512 })).then(({ release }) => release())
      await expect(opening((copy) => writeTinyMark(copy, { decoderSide: 4096 }))).rejects.toThrow(
        'decoder_Q.onnx: must take a square image 1×3×N×N, N up to 1024, and return 1×100 numbers; it takes image 1×3×4096×4096',
      )
    })

    it('marks only the centre with the variant P', async () => {
      const copy = await mkdtemp(join(folder, 'p-'))
      await writeTinyMark(copy, { variant: 'P', amplitude: 0.004 })
      const inCentre = await openMark(copy)
      const photo = await readPhoto('mia-tee')
      const id = createMarkId()
      const { bitmap } = await inCentre.embed(photo, id)
      expect(await inCentre.read(bitmap)).toBe(id)
      expect(isEqual(crop(bitmap, { height: 0.09 }), crop(photo, { height: 0.09 }))).toBe(true)
      expect(isEqual(bitmap, photo)).toBe(false)
      await inCentre.release()
    })
  })
})
