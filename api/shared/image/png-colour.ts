import { deflateSync } from 'node:zlib'
import { CHROMATICITIES, type Chromaticities } from './chromaticities.ts'
import { createIccProfile, type ProfileColours } from './icc-profile.ts'

const SRGB_CURVE = { type: 3, parameters: [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045] }
const SRGB = CHROMATICITIES[1]
/**
 * Exponents by code point of the transfer (ITU-T H.273, table 3). Television curves are displayed with an exponent of 2.4 (ITU-R
 * BT.1886). High dynamic range (16 and 18) would need tone mapping.
 */
const EXPONENTS: Readonly<Record<number, number>> = { 1: 2.4, 4: 2.2, 5: 2.8, 6: 2.4, 8: 1, 14: 2.4, 15: 2.4 }
const SRGB_TRANSFER = 13
const GREY = [0, 4]

/** Contents of the colour chunks of a PNG, and the colour type of its header. */
export interface PngColours {
  readonly colourType: number
  readonly chunks: ReadonlyMap<string, Buffer>
}

/**
 * The content of the iCCP chunk that says the same as the chunk of the highest priority: cICP, iCCP, sRGB, then gAMA and cHRM (PNG, third
 * edition, 4.3). The decoder understands iCCP only. Null for sRGB; undefined if nothing needs to be changed.
 */
export function replacementProfile({ colourType, chunks }: PngColours): Buffer | null | undefined {
  const space = readCodePoints(chunks.get('cICP')) ?? (chunks.has('iCCP') ? undefined : readGamma(chunks))
  if (!space) return undefined
  if (space.curve === SRGB_CURVE && space.chromaticities === SRGB) return chunks.has('iCCP') ? null : undefined
  const profile = createIccProfile(space, { grey: GREY.includes(colourType) })
  return profile && Buffer.concat([Buffer.from('icc\0\0', 'latin1'), deflateSync(profile)])
}

/** Only full-range RGB with known code points is supported; any other value gives way to the next chunk. */
function readCodePoints(chunk: Buffer | undefined): ProfileColours | undefined {
  if (chunk?.length !== 4) return undefined
  const [primaries, transfer, matrix, isFullRange] = chunk
  const chromaticities = CHROMATICITIES[primaries]
  const curve = transfer === SRGB_TRANSFER ? SRGB_CURVE : exponent(EXPONENTS[transfer])
  return matrix === 0 && isFullRange === 1 && chromaticities && curve ? { curve, chromaticities } : undefined
}

/**
 * As browsers: cHRM counts only beside gAMA, and the usual gAMA of 1/2.2 alone means sRGB, which the chunk can only approximate.
 */
function readGamma(chunks: ReadonlyMap<string, Buffer>): ProfileColours | undefined {
  const gamma = chunks.get('gAMA')
  if (chunks.has('sRGB') || gamma?.length !== 4) return undefined
  const chromaticities = readChromaticities(chunks.get('cHRM'))
  const encoded = gamma.readUInt32BE() / 100_000
  if (!chromaticities && Math.abs(encoded * 2.2 - 1) < 0.05) return undefined
  const curve = exponent(1 / encoded)
  return curve && { curve, chromaticities: chromaticities ?? SRGB }
}

function readChromaticities(chunk: Buffer | undefined): Chromaticities | null {
  if (chunk?.length !== 32) return null
  const point = (at: number) => [chunk.readUInt32BE(at) / 100_000, chunk.readUInt32BE(at + 4) / 100_000] as const
  return [point(0), point(8), point(16), point(24)]
}

function exponent(value: number | undefined): ProfileColours['curve'] | undefined {
  return value !== undefined && value >= 0.1 && value <= 10 ? { type: 0, parameters: [value] } : undefined
}
