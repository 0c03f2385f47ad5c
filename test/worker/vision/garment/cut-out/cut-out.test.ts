import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../../api/shared/image/image.ts'
import { cutOut } from '../../../../../worker/vision/garment/cut-out/cut-out.ts'
import { createRandom } from '../../../../../worker/vision/raster/clusters.ts'
import type { Bitmap, Size } from '../../../../../worker/vision/raster/plane.ts'
import { cutOutOnce } from '../../../../support/vision.ts'
import { CUTS, type Drawing, drawGarment } from '../drawn-garments.ts'
import { overlap, readGarment } from '../known-garments.ts'
import { prepareGarment } from '../prepare-by-outline.ts'

const WHITE = [255, 255, 255] as const
const OFF_WHITE = [236, 232, 226] as const
const BLUE = [40, 80, 160] as const

type Painter = (x: number, y: number) => ArrayLike<number>

const plainBitmap = (size: number, colourAt: Painter) => drawBitmap({ width: size, height: size }, colourAt)

function drawBitmap({ width, height }: Size, colourAt: Painter): Bitmap {
  const data = new Uint8Array(width * height * 3)
  for (let i = 0; i < width * height; i++) data.set(colourAt(i % width, Math.floor(i / width)), 3 * i)
  return { width, height, channels: 3, data }
}

const encodeJpeg = ({ width, height, data }: Bitmap, quality: number) =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer()

describe('cutOut on rendered product photos', () => {
  it.each([
    ['longsleeve_grey', 0.985],
    ['tshirt_mustard', 0.996],
    ['tshirt_navy', 0.996],
    ['trousers_black', 0.996],
    ['vneck_red', 0.996],
    ['tank_green', 0.996],
    ['dress_blue', 0.995],
    ['box_black', 0.996],
  ])('finds the pixels of %s', async (name, least) => {
    const { bitmap, mask } = await readGarment(name)
    const { alpha } = cutOutOnce(bitmap)
    expect(overlap(mask, alpha)).toBeGreaterThan(least)
  })

  it('finds the gap between the legs up to the crotch, despite its shadow', async () => {
    const { bitmap, landmarks, height } = await readGarment('trousers_black')
    const crotch = landmarks.get('crotch') ?? { x: 0, y: 0 }
    const { alpha } = cutOutOnce(bitmap)
    const below = Math.round(crotch.y + 0.08 * height) * bitmap.width + Math.round(crotch.x)
    expect(alpha.data[below]).toBeLessThan(0.3)
  })

  it('finds the gap between legs that nearly touch, with a thread across it', () => {
    const garment = prepareGarment(jeansWithLegsTogether(), { category: null, longest: 1000 })
    expect(garment.kind).toBe('trousers')
    expect(garment.kind === 'trousers' && garment.crotch.y - Math.min(...garment.waist.map(({ y }) => y))).toBeCloseTo(
      270,
      -1.5,
    )
  })

  it.each(['longsleeve_grey', 'glued_brown'])('finds the shaded gap between sleeve and body of %s', async (name) => {
    const { bitmap, mask, landmarks } = await readGarment(name)
    const { alpha } = cutOutOnce(bitmap)
    const armpit = landmarks.get(name === 'glued_brown' ? 'armpit_r' : 'armpit_l') ?? { x: 0, y: 0 }
    // Pixels within a tenth of the image below the armpit that are not garment.
    let [background, left] = [0, 0]
    for (let y = Math.round(armpit.y); y < armpit.y + 0.12 * bitmap.height; y++) {
      for (let x = Math.round(armpit.x) - 40; x < armpit.x + 60; x++) {
        const i = y * bitmap.width + x
        if (mask.data[i]) continue
        background++
        if (alpha.data[i] > 0.5) left++
      }
    }
    expect(background).toBeGreaterThan(100)
    expect(left / background).toBeLessThan(0.25)
  })
})

describe('a white garment in a compressed photo', () => {
  it.each([60, 85])('is segmented completely at JPEG quality %s', async (quality) => {
    const { bitmap, mask } = drawGarment({ cut: CUTS.tee, colour: [251, 251, 251], background: [246, 246, 246] })
    // A dark print in the middle, as wide as the chest.
    for (let y = 330; y < 430; y++)
      for (let x = 260; x < 440; x++) bitmap.data.fill(30 + ((x * y) % 60), (y * 700 + x) * 3, (y * 700 + x) * 3 + 3)
    const photo = await decodeImage(await encodeJpeg(bitmap, quality))
    expect(overlap(mask, cutOut(photo).alpha)).toBeGreaterThan(0.97)
  })

  it('is complete where its shade has the color of the background', () => {
    const { bitmap, mask } = drawGarment({ cut: CUTS.tee, colour: [251, 251, 251], background: [246, 246, 246] })
    const random = createRandom(5)
    // From brighter than the background on the left to darker on the right, with the grain of cloth.
    for (let i = 0; i < mask.data.length; i++) {
      if (!mask.data[i]) continue
      bitmap.data.fill(Math.round(254 - 16 * ((i % 700) / 700) + 2 * (random() - 0.5)), 3 * i, 3 * i + 3)
    }
    for (let y = 330; y < 430; y++)
      for (let x = 260; x < 440; x++) bitmap.data.fill(30 + ((x * y) % 60), (y * 700 + x) * 3, (y * 700 + x) * 3 + 3)
    expect(overlap(mask, cutOut(bitmap).alpha)).toBeGreaterThan(0.98)
  })

  it('excludes an even patch left around it by an earlier cutout', async () => {
    const { bitmap, mask } = drawGarment({ cut: CUTS.tee, colour: BLUE, background: WHITE })
    for (let i = 0; i < bitmap.data.length; i += 3) {
      const [x, y] = [(i / 3) % 700, Math.floor(i / 3 / 700)]
      const isPatch = x > 40 && x < 660 && y > 40 && y < 660 && bitmap.data[i] > 250
      if (isPatch) bitmap.data.fill(251, i, i + 3)
    }
    const photo = await decodeImage(await encodeJpeg(bitmap, 90))
    expect(overlap(mask, cutOut(photo).alpha)).toBeGreaterThan(0.97)
  })
})

describe('a garment before a wall that passes into a floor', () => {
  function drawOnWall(colour: readonly [number, number, number]) {
    const drawn = drawGarment({ cut: CUTS.tee, colour, background: [222, 222, 218], shadow: 0.15, noise: 0.4 })
    brighten(drawn, (x, y) => 10 / (1 + Math.exp((y - 560) / 14)) + 3 * Math.sin(x / 80) * Math.cos(y / 70))
    return drawn
  }

  function brighten({ bitmap, mask }: ReturnType<typeof drawGarment>, levels: (x: number, y: number) => number) {
    for (let i = 0; i < mask.data.length; i++) {
      const more = mask.data[i] ? 0 : levels(i % 700, Math.floor(i / 700))
      for (let c = 3 * i; c < 3 * i + 3; c++) bitmap.data[c] = Math.min(255, bitmap.data[c] + more)
    }
  }

  it('gets no spot of light and no soft shadow', async () => {
    const drawn = drawOnWall(BLUE)
    const spot = (x: number, y: number) => Math.exp(-((x - 560) ** 2 + (y - 560) ** 2) / 5000)
    brighten(drawn, (x, y) => 9 * spot(x, y) - 14 * spot(x + 420, y))
    const photo = await decodeImage(await encodeJpeg(drawn.bitmap, 85))
    expect(overlap(drawn.mask, cutOut(photo).alpha)).toBeGreaterThan(0.99)
  })
})

describe('cutOut on drawn product photos', () => {
  it.each<[string, Drawing, number]>([
    ['a clean white background', { cut: CUTS.tee, colour: BLUE, background: WHITE }, 0.995],
    ['a soft shadow on white', { cut: CUTS.tee, colour: BLUE, background: WHITE, shadow: 0.35 }, 0.995],
    [
      'uneven light, shadow and noise',
      { cut: CUTS.tee, colour: BLUE, background: OFF_WHITE, falloff: 0.8, shadow: 0.4, noise: 2 },
      0.995,
    ],
    [
      'a strong shadow and noise',
      { cut: CUTS.longSleeve, colour: [60, 110, 90], background: OFF_WHITE, shadow: 0.5, noise: 2 },
      0.995,
    ],
    [
      'a brown table',
      { cut: CUTS.tee, colour: [24, 24, 28], background: [170, 130, 95], shadow: 0.5, noise: 5 },
      0.995,
    ],
    [
      'cream on off-white',
      { cut: CUTS.tee, colour: [228, 214, 190], background: OFF_WHITE, shadow: 0.3, noise: 2 },
      0.99,
    ],
    ['white on white', { cut: CUTS.tee, colour: [243, 242, 240], background: WHITE }, 0.97],
    ['white on white that hardly differs', { cut: CUTS.sleeveless, colour: [253, 252, 251], background: WHITE }, 0.97],
    [
      'brighter than its background',
      { cut: CUTS.dress, colour: [252, 252, 252], background: [246, 246, 246], size: 700 },
      0.97,
    ],
    [
      'white stripes on white',
      { cut: CUTS.tee, colour: [245, 245, 245], stripes: [30, 40, 90], background: WHITE, shadow: 0.2, size: 700 },
      0.97,
    ],
    [
      'narrow straps',
      { cut: CUTS.sleeveless, colour: [200, 90, 120], background: OFF_WHITE, shadow: 0.3, noise: 1 },
      0.995,
    ],
    ['a large image', { cut: CUTS.tee, colour: BLUE, background: OFF_WHITE, shadow: 0.3, noise: 2, size: 1000 }, 0.995],
    ['a small image', { cut: CUTS.tee, colour: BLUE, background: OFF_WHITE, shadow: 0.3, noise: 2, size: 300 }, 0.99],
  ])('separates a garment from %s', (_, drawing, least) => {
    const { bitmap, mask } = drawGarment({ size: 400, ...drawing })
    expect(overlap(mask, cutOut(bitmap).alpha)).toBeGreaterThan(least)
  })

  it('removes the background color from edge pixels', () => {
    const { bitmap } = drawGarment({ cut: CUTS.tee, colour: BLUE, background: WHITE })
    const { colours, alpha } = cutOut(bitmap)
    let reddest = 0
    for (let i = 0; i < alpha.data.length; i++)
      if (alpha.data[i] > 0.1 && alpha.data[i] < 0.95) reddest = Math.max(reddest, colours.data[3 * i])
    expect(reddest).toBeLessThan(60)
  })

  it('keeps colors unchanged inside the garment', () => {
    const { bitmap } = drawGarment({ cut: CUTS.tee, colour: BLUE, background: WHITE, size: 800 })
    const { colours, alpha } = cutOut(bitmap)
    const middle = 400 * 800 + 400
    expect(alpha.data[middle]).toBe(1)
    expect([...colours.data.subarray(3 * middle, 3 * middle + 3)]).toEqual([
      ...bitmap.data.subarray(3 * middle, 3 * middle + 3),
    ])
  })

  it('produces a soft edge', () => {
    const { bitmap } = drawGarment({ cut: CUTS.tee, colour: BLUE, background: WHITE, turn: 10 })
    const { alpha } = cutOut(bitmap)
    const between = alpha.data.filter((a) => a > 0.05 && a < 0.95).length
    expect(between).toBeGreaterThan(500)
    expect(between).toBeLessThan(10_000)
  })
})

describe('a white region in the middle of a black garment on white', () => {
  const GARMENT = { left: 100, right: 300, top: 40, bottom: 360 }
  const within = (x: number, y: number, box: typeof GARMENT) =>
    x >= box.left && x < box.right && y >= box.top && y < box.bottom
  const draw = (region: typeof GARMENT) =>
    cutOut(plainBitmap(400, (x, y) => (within(x, y, GARMENT) && !within(x, y, region) ? [20, 20, 22] : WHITE)))

  it('is the opening of a halter neck below its band, which is behind the neck of a wearer', () => {
    const { alpha } = draw({ left: 130, right: 270, top: 52, bottom: 180 })
    expect(alpha.data[120 * 400 + 200]).toBe(0)
    expect(alpha.data[46 * 400 + 200]).toBe(0)
    expect(alpha.data[46 * 400 + 112]).toBeGreaterThan(0.9)
    expect(alpha.data[300 * 400 + 200]).toBe(1)
  })

  it.each([
    ['a large print', { left: 130, right: 270, top: 90, bottom: 250 }],
    ['a stripe below the collar', { left: 130, right: 270, top: 52, bottom: 80 }],
  ])('is %s', (_, region) => {
    const { alpha } = draw(region)
    expect(alpha.data[Math.round((region.top + region.bottom) / 2) * 400 + 200]).toBe(1)
  })
})

describe('cutOut on images with transparency', () => {
  it('uses the alpha channel', () => {
    const { transparent } = drawGarment({ cut: CUTS.tee, colour: BLUE, background: WHITE })
    const { alpha, colours } = cutOut(transparent)
    for (let i = 0; i < alpha.data.length; i += 997) {
      expect(alpha.data[i]).toBeCloseTo(transparent.data[4 * i + 3] / 255, 6)
      expect(colours.data[3 * i]).toBe(transparent.data[4 * i])
    }
  })

  it('treats an image with few transparent specks as opaque', () => {
    const { bitmap, mask } = drawGarment({ cut: CUTS.tee, colour: BLUE, background: WHITE, size: 400 })
    const data = new Uint8Array(bitmap.width * bitmap.height * 4).fill(255)
    for (let i = 0; i < bitmap.width * bitmap.height; i++) data.set(bitmap.data.subarray(3 * i, 3 * i + 3), 4 * i)
    for (let i = 0; i < 40; i++) data[4 * i + 3] = 0
    expect(overlap(mask, cutOut({ ...bitmap, channels: 4, data }).alpha)).toBeGreaterThan(0.99)
  })

  it('rejects a fully transparent image', () => {
    const empty: Bitmap = { width: 64, height: 64, channels: 4, data: new Uint8Array(64 * 64 * 4) }
    expect(() => cutOut(empty)).toThrow(expect.objectContaining({ code: 'RESULT_REJECTED', retryable: false }))
  })
})

describe('cutOut rejects', () => {
  const random = createRandom(7)
  const noise = Array.from({ length: 3 * 200 * 200 }, () => Math.floor(256 * random()))
  const shirt = drawGarment({ cut: CUTS.tee, colour: BLUE, background: WHITE, size: 400 }).bitmap
  const middle = plainBitmap(160, (x, y) => {
    const i = 3 * ((y + 120) * 400 + x + 120)
    return [...shirt.data.subarray(i, i + 3)]
  })
  it.each<[string, Bitmap, RegExp]>([
    ['a blank image', plainBitmap(200, () => [240, 240, 240]), /no garment/i],
    ['an image of one pixel', plainBitmap(1, () => [10, 20, 30]), /no garment/i],
    ['noise', plainBitmap(200, (x, y) => noise.slice(3 * (y * 200 + x), 3 * (y * 200 + x) + 3)), /./],
    ['a patchwork of colours', plainBitmap(320, (x, y) => [(x >> 5) * 25, (y >> 5) * 25, ((x ^ y) >> 4) * 12]), /./],
    ['a speck', plainBitmap(300, (x, y) => (Math.hypot(x - 150, y - 150) < 8 ? BLUE : WHITE)), /no garment/i],
    ['cloth from border to border', middle, /./],
    [
      'a garment cut off on two sides',
      plainBitmap(300, (x, y) => (x < 200 && y > 60 ? BLUE : WHITE)),
      /cut off by the border/i,
    ],
  ])('%s', (_, bitmap, message) => {
    expect(() => cutOut(bitmap)).toThrow(
      expect.objectContaining({ code: 'RESULT_REJECTED', retryable: false, message: expect.stringMatching(message) }),
    )
  })
})

// Straight jeans from y = 60 to y = 940 on nearly white; the gap below y = 330 gets narrower and darker upwards.
function jeansWithLegsTogether(): Bitmap {
  const random = createRandom(3)
  return drawBitmap({ width: 750, height: 1000 }, (x, y) => {
    const noise = 12 * (random() - 0.5)
    if (y < 60 || y > 940 || x < 230 || x > 520) return [247, 247, 247]
    const share = (y - 330) / 610
    const beside = Math.abs(x - 375) / (5 + 6 * share)
    const isThread = y > 600 && y < 605
    if (y < 330 || beside > 1 || isThread) return [50 + noise, 80 + noise, 130 + noise]
    return new Array(3).fill(247 * (0.74 + 0.22 * share))
  })
}
