import type { ColourSpace, Curve, Matrix } from './colour-space.ts'

const MAX_TAGS = 100
/** From XYZ under D50, the white point of every profile, to linear sRGB (IEC 61966-2-1, Bradford adaptation). */
const D50_TO_SRGB: Matrix = [
  3.1338561, -1.6168667, -0.4906146, -0.9787684, 1.9161415, 0.033454, 0.0719453, -0.2289914, 1.4052427,
]
const GREY_TO_SRGB: Matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1]

/** Colour spaces of images that a profile can describe (ICC.1:2022, table 19). */
export type ProfileSpace = 'RGB ' | 'GRAY' | 'CMYK'
/** Classes that describe the colours of an image: scanner, display, printer and colour space (ICC.1:2022, table 18). */
const CLASSES = ['scnr', 'mntr', 'prtr', 'spac']

/** Whether a profile describes colours of this space. Programs embed others by mistake, and viewers ignore those. */
export function isProfileOf(profile: Buffer, space: ProfileSpace): boolean {
  const field = (offset: number) => profile.toString('latin1', offset, offset + 4)
  return (
    CLASSES.includes(field(12)) && field(16) === space && (hasLookupTable(profile) || readIccProfile(profile) !== null)
  )
}

function hasLookupTable(profile: Buffer): boolean {
  try {
    return [...readTags(profile).keys()].some((name) => /^[AD]2B/.test(name))
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/**
 * Colour space of an ICC profile with three primaries and their curves, or with one curve for grey (ICC.1:2022, 8.3.3
 * and 8.3.4). Null when the profile is damaged or has lookup tables only.
 */
export function readIccProfile(profile: Buffer): ColourSpace | null {
  try {
    const tags = readTags(profile)
    const grey = tags.get('kTRC')
    const curves = grey ? [grey, grey, grey] : ['rTRC', 'gTRC', 'bTRC'].map((name) => tagNamed(tags, name))
    const [red, green, blue] = curves.map(readCurve)
    const toSrgb = grey ? GREY_TO_SRGB : readPrimaries(tags)
    return { curves: [red, green, blue], toSrgb, range: 'standard', displayPower: 0 }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Reading beyond the end of a profile or tag also throws a RangeError. */
function readTags(profile: Buffer): Map<string, Buffer> {
  const count = profile.readUInt32BE(128)
  if (count > MAX_TAGS) throw new RangeError('too many tags')
  return new Map(
    Array.from({ length: count }, (_, i) => {
      const entry = 132 + 12 * i
      const start = profile.readUInt32BE(entry + 4)
      return [
        profile.toString('latin1', entry, entry + 4),
        profile.subarray(start, start + profile.readUInt32BE(entry + 8)),
      ]
    }),
  )
}

function tagNamed(tags: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const tag = tags.get(name)
  if (!tag) throw new RangeError(`no tag ${name}`)
  return tag
}

function readPrimaries(tags: ReadonlyMap<string, Buffer>): Matrix {
  const primaries = ['rXYZ', 'gXYZ', 'bXYZ'].map((name) => {
    const tag = tagNamed(tags, name)
    return [8, 12, 16].map((offset) => readFixed(tag, offset))
  })
  return D50_TO_SRGB.map((_, i) => {
    const row = i - (i % 3)
    return primaries[i % 3].reduce((sum, value, k) => sum + D50_TO_SRGB[row + k] * value, 0)
  })
}

function readCurve(tag: Buffer): Curve {
  const type = tag.toString('latin1', 0, 4)
  if (type === 'para') return readParametricCurve(tag)
  if (type !== 'curv') throw new RangeError(`curve of type ${type}`)
  const count = tag.readUInt32BE(8)
  if (count === 0) return (value) => value
  if (count === 1) {
    const gamma = tag.readUInt16BE(12) / 256
    return (value) => value ** gamma
  }
  const last = 12 + 2 * (count - 1)
  tag.readUInt16BE(last)
  return (value) => {
    const at = value * (count - 1)
    const below = Math.min(Math.floor(at), count - 2)
    const [low, high] = [tag.readUInt16BE(12 + 2 * below), tag.readUInt16BE(14 + 2 * below)]
    return (low + (high - low) * (at - below)) / 65_535
  }
}

/** Number of parameters per function type, in the order g, a, b, c, d, e, f (ICC.1:2022, table 68). */
const PARAMETERS = [1, 3, 4, 5, 7]

function readParametricCurve(tag: Buffer): Curve {
  const type = tag.readUInt16BE(8)
  if (type >= PARAMETERS.length) throw new RangeError(`parametric curve ${type}`)
  const [g, a = 1, b = 0, c = 0, d = 0, e = 0, f = 0] = Array.from({ length: PARAMETERS[type] }, (_, i) =>
    readFixed(tag, 12 + 4 * i),
  )
  if (type === 0) return (value) => value ** g
  if (type < 3) return (value) => (value >= -b / a ? (a * value + b) ** g : 0) + c
  return (value) => (value >= d ? (a * value + b) ** g + e : c * value + f)
}

function readFixed(tag: Buffer, offset: number): number {
  return tag.readInt32BE(offset) / 65_536
}
