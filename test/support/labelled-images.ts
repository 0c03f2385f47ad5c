import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { insertSegments, segment } from './jpeg-segments.ts'
import { chunk } from './odd-images.ts'

/** An image of one colour that states its colour space. */
export interface LabelledImage {
  readonly name: string
  readonly bytes: Buffer
  /** sRGB as Chromium 156 shows it. */
  readonly shown: readonly number[]
}

interface FlatPng {
  readonly bits: 8 | 16
  /** 0 grey, 2 RGB, 4 grey with alpha, 6 RGB with alpha. */
  readonly colourType: 0 | 2 | 4 | 6
  /** The samples of each pixel, 0 to 255. */
  readonly samples: readonly number[]
  /** Chunks before the pixels. */
  readonly chunks?: readonly Buffer[]
}

const SIDE = 32

/** A PNG of 32 × 32 px of one colour. */
export function flatPng({ bits, colourType, samples, chunks = [] }: FlatPng): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(SIDE)
  header.writeUInt32BE(SIDE, 4)
  header.set([bits, colourType], 8)
  const pixel = samples.flatMap((value) => (bits === 16 ? [value, value] : [value]))
  const row = Buffer.concat([Buffer.alloc(1), ...Array.from({ length: SIDE }, () => Buffer.from(pixel))])
  const pixels = deflateSync(Buffer.concat(Array.from({ length: SIDE }, () => row)))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    ...chunks,
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A profile that sharp has by name. */
export async function namedProfile(name: 'srgb' | 'p3' | 'cmyk'): Promise<Buffer> {
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
  const labelled = await image
    .toColourspace(name === 'cmyk' ? 'cmyk' : 'srgb')
    .withIccProfile(name)
    .jpeg()
    .toBuffer()
  const { icc } = await sharp(labelled).metadata()
  if (!icc) throw new Error('the image has no profile')
  return icc
}

/** A profile whose lookup table takes the three samples for Lab. */
export function lookupProfile({ space, profileClass }: { space: string; profileClass: string }): Buffer {
  const ends = uint16(0, 0xff00, 0, 0xff00, 0, 0xff00)
  const corners = Array.from({ length: 8 }, (_, i) => uint16(...[4, 2, 1].map((bit) => (i & bit ? 0xff00 : 0))))
  const table = Buffer.alloc(52)
  table.write('mft2', 'latin1')
  table.set([3, 3, 2], 8)
  for (const diagonal of [12, 28, 44]) table.writeInt32BE(65_536, diagonal)
  table.writeUInt16BE(2, 48)
  table.writeUInt16BE(2, 50)
  const body = Buffer.concat([table, ends, ...corners, ends])
  const header = Buffer.alloc(144)
  header.writeUInt32BE(header.length + body.length)
  header.writeUInt32BE(0x02400000, 8)
  header.write(`${profileClass}${space}Lab `, 12, 'latin1')
  header.write('acsp', 36, 'latin1')
  for (const [i, value] of [0xf6d6, 0x10000, 0xd32d].entries()) header.writeUInt32BE(value, 68 + 4 * i)
  header.writeUInt32BE(1, 128)
  header.write('A2B0', 132, 'latin1')
  header.writeUInt32BE(header.length, 136)
  header.writeUInt32BE(body.length, 140)
  return Buffer.concat([header, body])
}

/** The JPEG with this profile, in segments of 60,000 bytes. */
export function withProfile(jpeg: Buffer, profile: Buffer): Buffer {
  const count = Math.ceil(profile.length / 60_000)
  const segments = Array.from({ length: count }, (_, i) => {
    const part = profile.subarray(i * 60_000, (i + 1) * 60_000)
    return segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([i + 1, count]), part]))
  })
  return insertSegments(jpeg, ...segments)
}

export function iccpChunk(profile: Buffer): Buffer {
  return chunk('iCCP', Buffer.concat([Buffer.from('icc\0\0', 'latin1'), deflateSync(profile)]))
}

export function gammaChunk(gamma: number): Buffer {
  return chunk('gAMA', uint32(Math.round(gamma * 100_000)))
}

/** Code points of ITU-T H.273: primaries, transfer, matrix, full range. */
export function cicpChunk(primaries: number, transfer: number, { matrix = 0, fullRange = 1 } = {}): Buffer {
  return chunk('cICP', Buffer.from([primaries, transfer, matrix, fullRange]))
}

const SRGB = chunk('sRGB', Buffer.from([0]))
const SRGB_CHROMATICITIES = chromaticitiesChunk(0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06)
const P3_CHROMATICITIES = chromaticitiesChunk(0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06)

/** PNG images of RGB (200, 30, 40) and of grey 90 by the chunks that state their colour space. */
export async function labelledPngs(): Promise<LabelledImage[]> {
  const p3 = iccpChunk(await namedProfile('p3'))
  const colours: [name: string, chunks: Buffer[], shown: readonly number[]][] = [
    ['no colour chunk', [], [200, 30, 40]],
    ['sRGB', [SRGB], [200, 30, 40]],
    ['iCCP of Display P3', [p3], [218, 0, 28]],
    ['gAMA of 1/2.2', [gammaChunk(0.45455)], [200, 30, 40]],
    ['gAMA of 1', [gammaChunk(1)], [229, 96, 110]],
    ['gAMA of 1 beside sRGB', [gammaChunk(1), SRGB], [200, 30, 40]],
    ['gAMA of 0', [gammaChunk(0)], [200, 30, 40]],
    ['gAMA and cHRM of sRGB', [gammaChunk(0.45455), SRGB_CHROMATICITIES], [201, 24, 35]],
    ['gAMA and cHRM of Display P3', [gammaChunk(0.45455), P3_CHROMATICITIES], [220, 0, 19]],
    ['gAMA and cHRM behind iCCP', [p3, gammaChunk(1), SRGB_CHROMATICITIES], [218, 0, 28]],
    ['cHRM of Display P3 alone', [P3_CHROMATICITIES], [200, 30, 40]],
    ['cICP of Display P3', [cicpChunk(12, 13)], [218, 0, 27]],
    ['cICP of Display P3 beside sRGB', [SRGB, cicpChunk(12, 13)], [218, 0, 27]],
    ['cICP of sRGB behind iCCP', [p3, cicpChunk(1, 13)], [200, 30, 40]],
    ['cICP of BT.709', [cicpChunk(1, 1)], [197, 18, 28]],
    ['cICP of BT.2020 with the curve of sRGB', [cicpChunk(9, 13)], [249, 0, 29]],
    ['cICP of linear light', [cicpChunk(1, 8)], [229, 96, 110]],
    ['cICP with a gamma of 2.2', [cicpChunk(1, 4)], [201, 24, 35]],
    ['cICP with a gamma of 2.8', [cicpChunk(1, 5)], [189, 8, 17]],
    ['cICP of DCI-P3', [cicpChunk(11, 13)], [213, 0, 28]],
    ['cICP of PAL', [cicpChunk(5, 13)], [204, 30, 40]],
    ['cICP of limited range', [cicpChunk(12, 13, { fullRange: 0 })], [200, 30, 40]],
    ['cICP of unknown primaries', [cicpChunk(2, 13)], [200, 30, 40]],
    ['cICP of an unknown curve', [cicpChunk(12, 2)], [200, 30, 40]],
  ]
  const depths = [8, 16] as const
  return depths.flatMap((bits) => [
    ...colours.map(([name, chunks, shown]) => ({
      name: `${bits} bits, ${name}`,
      bytes: flatPng({ bits, colourType: 2, samples: [200, 30, 40], chunks }),
      shown,
    })),
    ...[gammaChunk(1), cicpChunk(1, 8)].map((labelled) => ({
      name: `${bits} bits, grey of linear light (${labelled.toString('latin1', 4, 8)})`,
      bytes: flatPng({ bits, colourType: 0, samples: [90], chunks: [labelled] }),
      shown: [160, 160, 160],
    })),
  ])
}

function chromaticitiesChunk(...values: readonly number[]): Buffer {
  return chunk('cHRM', uint32(...values.map((value) => Math.round(value * 100_000))))
}

function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes
}

function uint16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, 2 * i)
  return bytes
}
