/** Linear light of an encoded value from 0 to 1. 1 is white; highlights of a high dynamic range exceed 1. */
export type Curve = (value: number) => number

/** 9 numbers in row-major order. */
export type Matrix = readonly number[]

/** Colour space of an image's samples. */
export interface ColourSpace {
  /** Curves of red, green and blue. */
  readonly curves: readonly [Curve, Curve, Curve]
  /** Matrix from linear RGB of this space to linear sRGB. */
  readonly toSrgb: Matrix
  readonly range: 'standard' | 'high'
  /** Exponent of the scene luminance that a display applies (HLG); 0 in every other space. */
  readonly displayPower: number
}

export interface Samples {
  /** Interleaved, 3 (RGB) or 4 (RGB, straight alpha) samples per pixel. */
  readonly data: Uint8Array | Uint16Array
  readonly channels: 3 | 4
  /** Used bits of each sample, 8 to 16. */
  readonly bits: number
}

/** Code points of ITU-T H.273. */
const P3_PRIMARIES = 12
const BT2020_PRIMARIES = 9
const PQ_TRANSFER = 16
const HLG_TRANSFER = 18

const IDENTITY: Matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1]
/** Between spaces with the same white (D65), from the chromaticities in H.273 and IEC 61966-2-1. */
const P3_TO_SRGB: Matrix = [1.22494, -0.22494, 0, -0.042057, 1.042057, 0, -0.019638, -0.078636, 1.098274]
const BT2020_TO_SRGB: Matrix = [
  1.660491, -0.587641, -0.07285, -0.12455, 1.1329, -0.008349, -0.018151, -0.100579, 1.11873,
]

/** Luminance of diffuse white on a high-dynamic-range display, and of the display's peak, in cd/m² (ITU-R BT.2408). */
const WHITE_LUMINANCE = 203
const HLG_PEAK_LUMINANCE = 1000

/**
 * Colour space of an image's code points. Unknown code points and the television curves (BT.601, BT.709) count as sRGB,
 * as in viewers of still images.
 */
export function spaceOfCodePoints({ primaries, transfer }: { primaries: number; transfer: number }): ColourSpace {
  const curve = transfer === PQ_TRANSFER ? pqCurve : transfer === HLG_TRANSFER ? hlgCurve : srgbCurve
  return {
    curves: [curve, curve, curve],
    toSrgb: primaries === P3_PRIMARIES ? P3_TO_SRGB : primaries === BT2020_PRIMARIES ? BT2020_TO_SRGB : IDENTITY,
    range: curve === srgbCurve ? 'standard' : 'high',
    // The system gamma of 1.2 at a peak of 1,000 cd/m² (ITU-R BT.2100, table 5).
    displayPower: curve === hlgCurve ? 0.2 : 0,
  }
}

/** IEC 61966-2-1. */
export function srgbCurve(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}

/** ITU-R BT.2100, table 4. */
function pqCurve(value: number): number {
  const power = value ** (1 / 78.84375)
  const linear = (Math.max(0, power - 0.8359375) / (18.8515625 - 18.6875 * power)) ** (1 / 0.1593017578125)
  return (linear * 10_000) / WHITE_LUMINANCE
}

/** ITU-R BT.2100, table 5: scene light, which `displayPower` then converts to display light. */
function hlgCurve(value: number): number {
  const [a, b, c] = [0.17883277, 0.28466892, 0.55991073]
  const linear = value <= 0.5 ? value ** 2 / 3 : (Math.exp((value - c) / a) + b) / 12
  return linear * (HLG_PEAK_LUMINANCE / WHITE_LUMINANCE)
}

/** Whether samples of this space can be used as sRGB without conversion. */
export function isSrgb({ curves, toSrgb }: ColourSpace): boolean {
  const sameCurve = (curve: Curve) =>
    [0.05, 0.2, 0.4, 0.6, 0.8, 1].every((value) => Math.abs(curve(value) - srgbCurve(value)) < 0.002)
  return toSrgb.every((value, i) => Math.abs(value - IDENTITY[i]) < 0.003) && curves.every(sameCurve)
}

/** Fine enough to separate neighbouring dark tones in 8 bits. */
const STEPS = 16_384
/** Share of white above which highlights of a high dynamic range are compressed, so that they keep detail. */
const KNEE = 0.75

/**
 * Converts samples to 8-bit sRGB. Clips colours outside of sRGB per channel; rolls highlights of a high dynamic range
 * off towards white and preserves their hue.
 */
export function convertToSrgb(samples: Samples, space: ColourSpace): Uint8Array {
  const tables = space.curves.map((curve) => tabulate(curve, samples.bits))
  const out = new Uint8Array(samples.data.length)
  if (space.range === 'high') convertHighRange(out, samples, { tables, space })
  else convertStandardRange(out, samples, { tables, space })
  if (samples.channels === 4) copyAlpha(out, samples)
  return out
}

interface Conversion {
  readonly tables: readonly Float32Array[]
  readonly space: ColourSpace
}

function tabulate(curve: Curve, bits: number): Float32Array {
  const last = 2 ** bits - 1
  // Clamped, because a profile may contain any numbers.
  return Float32Array.from({ length: last + 1 }, (_, i) => Math.min(Math.max(curve(i / last) || 0, 0), 1000))
}

function convertStandardRange(out: Uint8Array, { data, channels }: Samples, { tables, space }: Conversion): void {
  const [reds, greens, blues] = tables
  const [rr, rg, rb, gr, gg, gb, br, bg, bb] = space.toSrgb
  for (let i = 0; i < data.length; i += channels) {
    const r = reds[data[i]]
    const g = greens[data[i + 1]]
    const b = blues[data[i + 2]]
    out[i] = encode(rr * r + rg * g + rb * b)
    out[i + 1] = encode(gr * r + gg * g + gb * b)
    out[i + 2] = encode(br * r + bg * g + bb * b)
  }
}

function convertHighRange(out: Uint8Array, { data, channels }: Samples, { tables, space }: Conversion): void {
  const [reds, greens, blues] = tables
  const [rr, rg, rb, gr, gg, gb, br, bg, bb] = space.toSrgb
  const sceneWhite = WHITE_LUMINANCE / HLG_PEAK_LUMINANCE
  for (let i = 0; i < data.length; i += channels) {
    const r = reds[data[i]]
    const g = greens[data[i + 1]]
    const b = blues[data[i + 2]]
    const luminance = (0.2627 * r + 0.678 * g + 0.0593 * b) * sceneWhite
    const gain = space.displayPower === 0 ? 1 : luminance ** space.displayPower
    const red = (rr * r + rg * g + rb * b) * gain
    const green = (gr * r + gg * g + gb * b) * gain
    const blue = (br * r + bg * g + bb * b) * gain
    const scale = rollOff(Math.max(red, green, blue))
    out[i] = encode(red * scale)
    out[i + 1] = encode(green * scale)
    out[i + 2] = encode(blue * scale)
  }
}

/** Factor that darkens a colour with the maximum channel `peak`; smooth at the knee, never brighter than white. */
function rollOff(peak: number): number {
  if (peak <= KNEE) return 1
  return (1 - (1 - KNEE) * Math.exp((KNEE - peak) / (1 - KNEE))) / peak
}

const ENCODED = Uint8Array.from({ length: STEPS + 1 }, (_, i) => {
  const linear = i / STEPS
  return Math.round(255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055))
})

function encode(linear: number): number {
  const step = linear * STEPS + 0.5
  return ENCODED[step < 0 ? 0 : step > STEPS ? STEPS : step | 0]
}

function copyAlpha(out: Uint8Array, { data, bits }: Samples): void {
  const scale = 255 / (2 ** bits - 1)
  for (let i = 3; i < data.length; i += 4) out[i] = Math.round(data[i] * scale)
}
