import fc from 'fast-check'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { convertToSrgb, isSrgb, srgbCurve } from '../../../../api/shared/image/colour-space.ts'
import { readIccProfile } from '../../../../api/shared/image/icc-profile.ts'
import { decodeImage } from '../../../../api/shared/image/image.ts'

/** A PNG of many colours with a profile, and the profile. */
async function imageIn(profile: 'p3' | 'srgb'): Promise<{ file: Buffer; icc: Buffer; stored: Uint8Array }> {
  const colours = Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => (Math.imul(i, 2654435761) >>> 9) & 255)
  const file = await sharp(colours, { raw: { width: 64, height: 64, channels: 3 } })
    .withIccProfile(profile)
    .png()
    .toBuffer()
  const { icc } = await sharp(file).metadata()
  if (!icc) throw new Error('the image has no profile')
  return { file, icc, stored: await sharp(file, { ignoreIcc: true }).raw().toBuffer() }
}

interface Tag {
  readonly name: string
  readonly type: string
  readonly numbers: readonly number[]
  readonly size: 2 | 4
}

/** A profile of these tags; `type` and 4 bytes of nothing come before the numbers. */
function profileOf(...tags: readonly Tag[]): Buffer {
  const bodies = tags.map(({ type, numbers, size }) => {
    const body = Buffer.alloc(8 + numbers.length * size)
    body.write(type, 'latin1')
    numbers.forEach((value, i) => {
      if (size === 2) body.writeUInt16BE(value, 8 + 2 * i)
      else body.writeInt32BE(value, 8 + 4 * i)
    })
    return body
  })
  const table = Buffer.alloc(4 + 12 * tags.length)
  table.writeUInt32BE(tags.length)
  let offset = 128 + table.length
  tags.forEach(({ name }, i) => {
    table.write(name, 4 + 12 * i, 'latin1')
    table.writeUInt32BE(offset, 8 + 12 * i)
    table.writeUInt32BE(bodies[i].length, 12 + 12 * i)
    offset += bodies[i].length
  })
  return Buffer.concat([Buffer.alloc(128), table, ...bodies])
}

const fixed = (value: number) => Math.round(value * 65_536)
const grey = (...numbers: readonly number[]): Tag => ({ name: 'kTRC', type: 'curv', numbers, size: 2 })
const parametric = (type: number, ...values: readonly number[]): Tag => ({
  name: 'kTRC',
  type: 'para',
  numbers: [type << 16, ...values.map(fixed)],
  size: 4,
})

function curveOf(tag: Tag): (value: number) => number {
  const space = readIccProfile(profileOf(tag))
  if (!space) throw new Error('the profile was not read')
  return space.curves[0]
}

describe('ICC profiles', () => {
  it('convert to the same sRGB colours as in a colour management system', async () => {
    const { file, icc, stored } = await imageIn('p3')
    const space = readIccProfile(icc)
    if (!space) throw new Error('the profile was not read')
    const ours = convertToSrgb({ data: stored, channels: 3, bits: 8 }, space)
    const theirs = (await decodeImage(file)).data
    const distances = ours.map((value, i) => Math.abs(value - theirs[i]))
    expect(Math.max(...distances)).toBeLessThanOrEqual(2)
    expect(distances.reduce((sum, distance) => sum + distance, 0) / distances.length).toBeLessThan(0.3)
    expect(ours).not.toEqual(stored)
  })

  it('of sRGB are detected', async () => {
    const { icc } = await imageIn('srgb')
    const space = readIccProfile(icc)
    expect(space && isSrgb(space)).toBe(true)
  })

  it('can have curves as gamma, table or function', () => {
    expect(curveOf(grey(0, 0))(0.3)).toBe(0.3)
    expect(curveOf(grey(0, 1, 2.2 * 256))(0.5)).toBeCloseTo(0.5 ** 2.2, 3)
    expect(curveOf(grey(0, 3, 0, 16_384, 65_535))(0.25)).toBeCloseTo(0.125, 4)
    expect(curveOf(grey(0, 3, 0, 16_384, 65_535))(1)).toBe(1)
    expect(curveOf(parametric(0, 1.8))(0.5)).toBeCloseTo(0.5 ** 1.8, 4)
    const srgb = curveOf(parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045))
    for (const value of [0, 0.02, 0.3, 0.9]) expect(srgb(value)).toBeCloseTo(srgbCurve(value), 3)
    const shifted = curveOf(parametric(4, 2, 1, 0, 0.5, 0.25, 0.1, 0.05))
    expect([shifted(0.2), shifted(0.5)].map((value) => value.toFixed(3))).toEqual(['0.150', '0.350'])
  })

  it('that are damaged or use lookup tables are ignored', async () => {
    const { icc } = await imageIn('p3')
    expect(readIccProfile(Buffer.alloc(0))).toBeNull()
    expect(readIccProfile(profileOf({ name: 'A2B0', type: 'mft2', numbers: [1, 2, 3], size: 4 }))).toBeNull()
    expect(readIccProfile(profileOf(grey(0, 4000, 1, 2)))).toBeNull()
    expect(readIccProfile(profileOf(parametric(9, 1)))).toBeNull()
    const change = fc.record({ at: fc.nat(icc.length - 1), to: fc.nat(255), cut: fc.nat(icc.length) })
    fc.assert(
      fc.property(change, ({ at, to, cut }) => {
        const damaged = Buffer.from(icc.subarray(0, cut))
        if (at < cut) damaged[at] = to
        const space = readIccProfile(damaged)
        const colours = space && convertToSrgb({ data: Uint8Array.of(0, 128, 255), channels: 3, bits: 8 }, space)
        expect(colours === null || colours.length === 3).toBe(true)
      }),
      { numRuns: 500, seed: 3 },
    )
  })
})
