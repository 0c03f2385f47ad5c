import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Rectangle } from '../../../api/shared/image/image.ts'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { createLogoLoader, drawLogo, placeLogo } from '../../../worker/outputs/logo.ts'
import type { Bitmap, Size } from '../../../worker/vision/raster/plane.ts'

function noise({ width, height }: Size, channels: 3 | 4 = 3): Bitmap {
  const data = new Uint8Array(width * height * channels)
  for (let i = 0, state = 9; i < data.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    data[i] = state >>> 24
  }
  return { width, height, channels, data }
}

function flat({ width, height }: Size, colour: readonly number[]): Bitmap {
  const data = new Uint8Array(width * height * colour.length)
  data.forEach((_, i) => {
    data[i] = colour[i % colour.length]
  })
  return { width, height, channels: colour.length === 4 ? 4 : 3, data }
}

/** The smallest rectangle around every pixel in which two images differ. */
function difference(before: Bitmap, after: Bitmap): Rectangle | null {
  const [xs, ys]: [number[], number[]] = [[], []]
  for (let i = 0; i < before.width * before.height; i++) {
    const same = [0, 1, 2].every((c) => before.data[i * before.channels + c] === after.data[i * 3 + c])
    if (same) continue
    xs.push(i % before.width)
    ys.push(Math.floor(i / before.width))
  }
  if (xs.length === 0) return null
  const [x, y] = [xs, ys].map((values) => values.reduce((a, b) => Math.min(a, b)))
  const [right, bottom] = [xs, ys].map((values) => values.reduce((a, b) => Math.max(a, b)))
  return { x, y, width: right - x + 1, height: bottom - y + 1 }
}

const SIZE = { width: 1000, height: 1250 }

describe('the position of a logo', () => {
  it.each([
    ['an ordinary logo', { width: 400, height: 200 }, { x: 30, y: 1130, width: 180, height: 90 }],
    ['a huge one', { width: 8000, height: 4000 }, { x: 30, y: 1130, width: 180, height: 90 }],
    ['a tall one', { width: 100, height: 1000 }, { x: 30, y: 1070, width: 15, height: 150 }],
    ['a wide one', { width: 1000, height: 20 }, { x: 30, y: 1216, width: 180, height: 4 }],
    ['a small one, at most doubled', { width: 20, height: 10 }, { x: 30, y: 1200, width: 40, height: 20 }],
    ['a single pixel', { width: 1, height: 1 }, { x: 30, y: 1218, width: 2, height: 2 }],
    ['a thread', { width: 9000, height: 1 }, { x: 30, y: 1219, width: 180, height: 1 }],
  ])('is the bottom-left corner, for %s', (_, logo, wanted) => {
    expect(placeLogo(SIZE, logo)).toEqual(wanted)
  })

  it('stays inside the image and within its size limits, at any sizes', () => {
    const side = fc.integer({ min: 1, max: 5000 })
    const size = fc.record({ width: side, height: side })
    fc.assert(
      fc.property(size, size, (image, logo) => {
        const { x, y, width, height } = placeLogo(image, logo)
        for (const value of [x, y]) expect(value).toBeGreaterThanOrEqual(0)
        for (const value of [width, height]) expect(value).toBeGreaterThanOrEqual(1)
        expect(x + width).toBeLessThanOrEqual(image.width)
        expect(y + height).toBeLessThanOrEqual(image.height)
        expect(width).toBeLessThanOrEqual(Math.max(1, 0.18 * image.width + 0.5))
        expect(height).toBeLessThanOrEqual(Math.max(1, 0.12 * image.height + 0.5))
      }),
    )
  })
})

describe('adding a logo', () => {
  it('changes only the pixels of its rectangle', async () => {
    const bitmap = flat(SIZE, [100, 150, 200])
    const marked = await drawLogo(bitmap, flat({ width: 400, height: 200 }, [0, 0, 0]))
    expect(difference(bitmap, marked)).toEqual({ x: 30, y: 1130, width: 180, height: 90 })
    expect([...marked.data.subarray((1200 * 1000 + 100) * 3, (1200 * 1000 + 100) * 3 + 3)]).toEqual([15, 23, 30])
    expect(bitmap.data.every((value, i) => value === [100, 150, 200][i % 3])).toBe(true)
  })

  it('blends by alpha, rounded to the nearest value', async () => {
    const bitmap = noise({ width: 100, height: 100 })
    // Exactly of the drawn size, so that every pixel is predictable.
    const logo = noise({ width: 18, height: 12 }, 4)
    const marked = await drawLogo(bitmap, logo)
    const at = placeLogo(bitmap, logo)
    expect(at).toMatchObject({ width: 18, height: 12 })
    for (let y = 0; y < 12; y++) {
      for (let x = 0; x < 18; x++) {
        const from = (y * 18 + x) * 4
        const to = ((at.y + y) * 100 + at.x + x) * 3
        const share = (logo.data[from + 3] / 255) * 0.85
        for (let c = 0; c < 3; c++) {
          const exact = bitmap.data[to + c] * (1 - share) + logo.data[from + c] * share
          expect(Math.abs(marked.data[to + c] - exact)).toBeLessThanOrEqual(1)
        }
      }
    }
  })

  it('shows the image where the logo is transparent, without a dark edge', async () => {
    const bitmap = flat(SIZE, [90, 90, 90])
    const logo = flat({ width: 360, height: 180 }, [255, 255, 255, 0])
    // White left half; transparent pixels are black, as editors store them.
    for (let i = 0; i < 360 * 180; i++) logo.data.set(i % 360 < 180 ? [255, 255, 255, 255] : [0, 0, 0, 0], i * 4)
    const marked = await drawLogo(bitmap, logo)
    expect(marked.data.every((value) => value >= 90)).toBe(true)
    const row = 1175 * 1000
    expect(marked.data[(row + 60) * 3]).toBe(230)
    expect(marked.data[(row + 190) * 3]).toBe(90)
  })

  it('changes no bit when fully transparent', async () => {
    const bitmap = noise({ width: 300, height: 375 })
    const marked = await drawLogo(bitmap, flat({ width: 50, height: 50 }, [10, 20, 30, 0]))
    expect(marked).toEqual(bitmap)
  })

  it.each([
    [8000, 30],
    [30, 8000],
    [1, 1],
    [3000, 3000],
  ])('accepts a logo of %i × %i px', async (width, height) => {
    const bitmap = flat({ width: 400, height: 500 }, [200, 200, 200])
    const logo = flat({ width, height }, [0, 0, 0])
    const marked = await drawLogo(bitmap, logo)
    expect(difference(bitmap, marked)).toEqual(placeLogo(bitmap, logo))
  })
})

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
})
