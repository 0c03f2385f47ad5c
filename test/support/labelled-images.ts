import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { insertSegments, segment } from './jpeg-segments.ts'
import { chunk } from './odd-images.ts'

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

function uint16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, 2 * i)
  return bytes
}
