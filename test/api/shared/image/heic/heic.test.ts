import { createRequire } from 'node:module'
import fc from 'fast-check'
import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../../api/shared/contract/errors.ts'
import { HEIC_LIBRARY_BYTES } from '../../../../../api/shared/image/decoding-memory.ts'
import { createHeicThreads, type HeicSettings } from '../../../../../api/shared/image/heic/heic.ts'
import { type Bitmap, decodeImage, inspectImage, normaliseImage } from '../../../../../api/shared/image/image.ts'
import { crop, endlessHeic, mirroring, rotation, tiledHeic } from '../../../../support/endless-heic.ts'
import { findHeicBox, heicImage, IMAGE_SIZE, imageColour, pixelSeenAt } from '../../../../support/heic-images.ts'

const MEGABYTE = 2 ** 20
const SETTINGS: HeicSettings = {
  threads: 2,
  waiting: 200,
  workMs: 10_000,
  workMsPerMegabyte: 0,
  limitMs: 60_000,
  idleMs: 5_000,
  memoryBytes: 256 * MEGABYTE,
  heldBytes: 256 * MEGABYTE,
}
const ALL = { pixels: 50_000_000 }

type Colour = readonly number[]

/** The mean distance of an image's channels from the colours they should have, away from the edges of the quarters. */
function meanDistance(bitmap: Bitmap, wantedAt: (x: number, y: number) => Colour, from = 0): number {
  let sum = 0
  let count = 0
  for (let y = 0; y < bitmap.height; y++) {
    for (let x = from; x < bitmap.width; x++) {
      if (Math.abs(2 * x - bitmap.width) < 8 || Math.abs(2 * y - bitmap.height) < 8) continue
      const start = (y * bitmap.width + x) * bitmap.channels
      wantedAt(x, y).forEach((wanted, c) => {
        sum += Math.abs(bitmap.data[start + c] - wanted)
        count++
      })
    }
  }
  return sum / count
}

/** Whole pixels, from the centre of the image. */
function cropTo(width: number, height: number, x = 0, y = 0): Buffer {
  return crop({ width: [width, 1], height: [height, 1], x: [x, 1], y: [y, 1] })
}

function lumaAt(rgb: ArrayLike<number>, i: number): number {
  return 0.299 * rgb[i] + 0.587 * rgb[i + 1] + 0.114 * rgb[i + 2]
}

/** The primary image as libheif decodes it in one piece. */
async function decodeByLibrary(file: Buffer) {
  const { HeifDecoder } = createRequire(import.meta.url)('libheif-js')
  const [image] = new HeifDecoder().decode(file)
  const size: { width: number; height: number } = { width: image.get_width(), height: image.get_height() }
  const rgba = new Uint8ClampedArray(size.width * size.height * 4)
  await new Promise((resolve) => image.display({ data: rgba, ...size }, resolve))
  return { size, rgb: rgba.filter((_, i) => i % 4 < 3) }
}

const refused = { code: 'INVALID_IMAGE', retryable: false }

describe('decoding HEIC', () => {
  it.each(['single', 'tiles', 'ten-bit', 'p3-profile', 'p3-code-points', 'pq', 'hlg', 'depth', 'second-primary'])(
    'returns the sRGB pixels of the file "%s"',
    async (name) => {
      const bitmap = await decodeImage(heicImage(name))
      expect(bitmap).toMatchObject({ ...IMAGE_SIZE, channels: 3 })
      expect(meanDistance(bitmap, imageColour)).toBeLessThan(1)
    },
  )

  it.each([2, 3, 4, 5, 6, 7, 8])('applies orientation %i once', async (orientation) => {
    const bitmap = await decodeImage(heicImage(`turned-${orientation}`))
    const lying = orientation >= 5
    expect(bitmap).toMatchObject({ width: lying ? 120 : 160, height: lying ? 160 : 120 })
    const wanted = (x: number, y: number) => imageColour(...pixelSeenAt(orientation, x, y))
    expect(meanDistance(bitmap, wanted)).toBeLessThan(1)
  })

  it('rotates a tiled image', async () => {
    const bitmap = await decodeImage(heicImage('turned-tiles'))
    expect(bitmap).toMatchObject({ width: 120, height: 160 })
    expect(meanDistance(bitmap, (x, y) => imageColour(...pixelSeenAt(6, x, y)))).toBeLessThan(1)
  })

  it('spreads grey over three equal channels', async () => {
    const bitmap = await decodeImage(heicImage('grey'))
    const grey = (x: number, y: number) => [0, 0, 0].fill(imageColour(x, y)[0])
    expect(meanDistance(bitmap, grey)).toBeLessThan(1)
  })

  it('keeps straight alpha', async () => {
    const wanted = (x: number, y: number) => [...imageColour(x, y), (255 * x) / (IMAGE_SIZE.width - 1)]
    const straight = await decodeImage(heicImage('alpha'))
    expect(straight.channels).toBe(4)
    expect(meanDistance(straight, wanted)).toBeLessThan(1)
    const divided = await decodeImage(heicImage('premultiplied'))
    expect(divided.channels).toBe(4)
    expect(meanDistance(divided, wanted, IMAGE_SIZE.width / 4)).toBeLessThan(1.5)
  })

  it('keeps no metadata', async () => {
    const { bytes } = await normaliseImage(heicImage('turned-6'))
    const metadata = await sharp(bytes).metadata()
    for (const kind of ['exif', 'icc', 'xmp', 'iptc', 'orientation']) expect(metadata).not.toHaveProperty(kind)
    expect(inspectImage(bytes)).toEqual({ format: 'jpeg', width: 120, height: 160 })
  })

  it.each(['single', 'tiles'])('refuses the file "%s" truncated anywhere', async (name) => {
    const file = heicImage(name)
    for (const share of [0.3, 0.6, 0.9, 0.99]) {
      await expect(decodeImage(file.subarray(0, file.length * share))).rejects.toMatchObject(refused)
    }
  })

  it('refuses a file without its primary item', async () => {
    const file = heicImage('single')
    file.writeUInt16BE(99, findHeicBox(file, 'pitm').end - 2)
    await expect(decodeImage(file)).rejects.toMatchObject(refused)
  })

  it('refuses a file with a missing tile', async () => {
    const file = heicImage('tiles')
    const { start, end } = findHeicBox(file, 'dimg')
    file.writeUInt16BE(99, end - 2)
    expect(end - start).toBe(12 + 2 * 6)
    await expect(decodeImage(file)).rejects.toMatchObject(refused)
  })

  it('refuses more pixels than allowed before anything is decoded', async () => {
    const file = heicImage('single')
    file.writeUInt32BE(60_000, findHeicBox(file, 'ispe').start + 12)
    await expect(decodeImage(file)).rejects.toThrow('The image has 60000 × 120 pixels')
  })

  it('refuses a header that declares more data than the file has', async () => {
    const file = heicImage('single')
    file.writeUInt32BE(6_000, findHeicBox(file, 'ispe').start + 12)
    await expect(decodeImage(file)).rejects.toMatchObject(refused)
  })
})

describe('threads for HEIC', () => {
  const threads = createHeicThreads(SETTINGS)
  afterAll(() => threads.stop())

  it('decode or refuse every mutation of a valid file, and still decode valid files', async () => {
    const good = ['single', 'tiles', 'alpha', 'pq', 'p3-profile', 'turned-5'].map(heicImage)
    const mutation = fc.record({
      seed: fc.constantFrom(...good),
      // Half of the changes hit the boxes before the pixels, where most of what can go wrong is.
      at: fc.oneof(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.double({ min: 0, max: 0.25, noNaN: true })),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }),
    })
    const check = fc.asyncProperty(mutation, async ({ seed, at, bytes }) => {
      const file = Buffer.from(seed)
      file.set(bytes.subarray(0, file.length - Math.floor(at * file.length)), Math.floor(at * file.length))
      const outcome = await threads.decode(file, ALL).catch((error: unknown) => error)
      if (outcome instanceof Error) {
        expect(outcome).toBeInstanceOf(DrapeError)
        expect(outcome).toMatchObject(refused)
      }
    })
    await fc.assert(check, { numRuns: 150, seed: 5 })
    expect(await threads.decode(heicImage('single'), ALL)).toMatchObject(IMAGE_SIZE)
  })

  it('decode 30 concurrent files', async () => {
    const file = heicImage('tiles')
    const bitmaps = await Promise.all(Array.from({ length: 30 }, () => threads.decode(file, ALL)))
    for (const bitmap of bitmaps) expect(bitmap).toEqual(bitmaps[0])
  })

  it('refuse files when the queue is full, as a retryable error', async () => {
    const few = createHeicThreads({ ...SETTINGS, threads: 1, waiting: 2 })
    const file = heicImage('single')
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => few.decode(file, ALL)))
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
    expect(outcomes[4]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE', retryable: true } })
    await few.stop()
  })

  it('refuse a file that exceeds the memory limit of a thread, and keep working', async () => {
    const tight = createHeicThreads({ ...SETTINGS, threads: 1, memoryBytes: 24 * MEGABYTE })
    await expect(tight.decode(heicImage('large'), ALL)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('too much memory'),
    })
    expect(await tight.decode(heicImage('single'), ALL)).toMatchObject(IMAGE_SIZE)
    await tight.stop()
  })

  it('abort only the file that exceeds the processor time limit', async () => {
    const strict = createHeicThreads({ ...SETTINGS, threads: 1, workMs: 300 })
    const slow = tiledHeic(heicImage('large'), { width: 3000, height: 2000, columns: 2, rows: 4 })
    const [endless, next] = await Promise.allSettled([
      strict.decode(slow, { pixels: 1 }),
      strict.decode(heicImage('single'), ALL),
    ])
    expect(endless).toMatchObject({
      status: 'rejected',
      reason: { ...refused, message: 'The image cannot be decoded.' },
    })
    expect(next).toMatchObject({ status: 'fulfilled', value: IMAGE_SIZE })
    await strict.stop()
  })

  it('refuse at once a grid whose tiles are not shown', async () => {
    const grid = endlessHeic(heicImage('large'))
    await expect(threads.decode(grid, ALL)).rejects.toMatchObject({
      ...refused,
      cause: { message: 'Tiles are outside of the image' },
    })
  })

  it('downscale a large grid while they assemble it', async () => {
    const file = tiledHeic(heicImage('single'), { ...IMAGE_SIZE, columns: 4, rows: 4 })
    const whole = await threads.decode(file, ALL)
    const half = await threads.decode(file, { pixels: (IMAGE_SIZE.width * IMAGE_SIZE.height * 16) / 4 })
    expect([whole.width, whole.height, half.width, half.height]).toEqual([640, 480, 320, 240])
    for (const [x, y] of [
      [3, 5],
      [200, 170],
      [317, 239],
    ]) {
      for (let c = 0; c < 3; c++) {
        const at = (row: number, column: number) => whole.data[(row * whole.width + column) * 3 + c]
        const mean = (at(2 * y, 2 * x) + at(2 * y, 2 * x + 1) + at(2 * y + 1, 2 * x) + at(2 * y + 1, 2 * x + 1)) / 4
        expect(Math.abs(half.data[(y * half.width + x) * 3 + c] - mean)).toBeLessThanOrEqual(0.5)
      }
    }
  })

  const TILES = { ...IMAGE_SIZE, columns: 3, rows: 2, shown: { width: 461, height: 203 } }
  const VIEWS: [name: string, transformations: Buffer[]][] = [
    ['a few pixels', [cropTo(455, 199)]],
    ['one tile', [cropTo(100, 60, 10, -40)]],
    ['the middle', [cropTo(200, 100)]],
    ['fractions', [crop({ width: [401, 2], height: [303, 2], x: [7, 3], y: [-15, 4] })]],
    ['the left and the bottom', [cropTo(250, 120, -105, 41)]],
    ...[90, 180, 270].map((degrees): [string, Buffer[]] => [
      `the middle, then ${degrees}°`,
      [cropTo(250, 120, -51, 20), rotation(degrees)],
    ]),
    ['90°, then the middle', [rotation(90), cropTo(120, 250, 20, -51)]],
    ['the middle, 270°, then mirrored', [cropTo(250, 120, 51, 20), rotation(270), mirroring('left-right')]],
    ['mirrored, 90°, then the middle', [mirroring('top-bottom'), rotation(90), cropTo(120, 250, -20, 51)]],
    ['the middle, mirrored', [cropTo(250, 120, 51, 20), mirroring('top-bottom')]],
    ['a crop of a crop', [cropTo(250, 120, 51, 20), cropTo(100, 100, -30, 5)]],
  ]

  it.each(VIEWS)('crop a grid as libheif does: %s', async (_, transformations) => {
    const file = tiledHeic(heicImage('single'), { ...TILES, transformations })
    const wanted = await decodeByLibrary(file)
    expect(await threads.decode(file, ALL)).toMatchObject(wanted.size)
    const { data } = await threads.decode(file, ALL)
    // An odd crop moves the chroma of the library by half a sample, so that only luma is the same everywhere.
    let sum = 0
    for (let i = 0; i < data.length; i += 3) sum += Math.abs(lumaAt(data, i) - lumaAt(wanted.rgb, i))
    expect(sum / (data.length / 3)).toBeLessThan(0.3)
  })

  it('crop a large grid while they reduce it, whatever its orientation', async () => {
    const [rows, columns, centre] = [4, 4, cropTo(481, 241, 20, -33)]
    for (const turned of [[], [rotation(90)], [rotation(180)], [mirroring('left-right'), rotation(270)]]) {
      const transformations = [centre, ...turned]
      const file = tiledHeic(heicImage('single'), { ...IMAGE_SIZE, columns, rows, transformations })
      const whole = await threads.decode(file, ALL)
      const half = await threads.decode(file, { pixels: (481 * 241) / 5 })
      const wanted = await sharp(whole.data, { raw: { ...whole } })
        .resize(half.width, half.height, { fit: 'fill', kernel: 'linear' })
        .raw()
        .toBuffer()
      expect([half.width, half.height].sort()).toEqual([120, 240])
      const distances = half.data.map((value, i) => Math.abs(value - wanted[i]))
      expect(distances.reduce((sum, distance) => sum + distance, 0) / distances.length).toBeLessThan(3)
    }
  })

  it('crop a photo within the memory of a photo', async () => {
    const photo = { width: 512, height: 512, columns: 8, rows: 6, shown: { width: 4032, height: 3024 } }
    const file = tiledHeic(heicImage('textured'), { ...photo, transformations: [cropTo(4000, 3000), rotation(270)] })
    const usual = createHeicThreads({ ...SETTINGS, workMs: 60_000, limitMs: 600_000, memoryBytes: HEIC_LIBRARY_BYTES })
    expect(await usual.decode(file, { pixels: 9_000_000 })).toMatchObject({ width: 3000, height: 4000 })
    await usual.stop()
  })

  it('ignore a crop that is larger than the image', async () => {
    const file = tiledHeic(heicImage('single'), { ...TILES, transformations: [cropTo(600, 300)] })
    expect(await threads.decode(file, ALL)).toMatchObject(TILES.shown)
  })

  it('refuse a crop that leaves nothing', async () => {
    const file = tiledHeic(heicImage('single'), { ...TILES, transformations: [cropTo(100, 100, 4000, 0)] })
    await expect(threads.decode(file, ALL)).rejects.toMatchObject(refused)
  })

  it('end a thread that retains much memory', async () => {
    const thrifty = createHeicThreads({ ...SETTINGS, threads: 1, heldBytes: 32 * MEGABYTE, idleMs: 60_000 })
    const started: number[] = []
    const note = (worker: { threadId: number }) => started.push(worker.threadId)
    process.on('worker', note)
    await thrifty.decode(heicImage('single'), ALL)
    await thrifty.decode(heicImage('single'), ALL)
    await thrifty.decode(heicImage('large'), ALL)
    await thrifty.decode(heicImage('single'), ALL)
    process.off('worker', note)
    expect(started).toHaveLength(2)
    await thrifty.stop()
  })

  it('end when idle, and start again on demand', async () => {
    const short = createHeicThreads({ ...SETTINGS, threads: 1, idleMs: 20 })
    const file = heicImage('single')
    const first = await short.decode(file, ALL)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await short.decode(file, ALL)).toEqual(first)
    await short.stop()
  })
})
