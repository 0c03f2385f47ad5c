import type { Colours } from './plane.ts'
import { norm } from './vector.ts'

// CIE 1931 2° white point D65 and the sRGB matrices of IEC 61966-2-1.
const WHITE_X = 0.95047
const WHITE_Z = 1.08883
const EPSILON = 216 / 24389
const KAPPA = 24389 / 27

const linearOf = Float64Array.from({ length: 1024 }, (_, i) => {
  const v = i / 1023
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4
})

function toLinear(value: number): number {
  const v = Math.min(Math.max(value, 0), 255) * (1023 / 255)
  const i = Math.min(v | 0, 1022)
  return linearOf[i] + (linearOf[i + 1] - linearOf[i]) * (v - i)
}

function toGamma(v: number): number {
  if (v <= 0) return 0
  return 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055)
}

// CIE Lab's curve over 0 to 1, with 4,097 values; linear interpolation is accurate to 1e-5.
const labCurveOf = Float64Array.from({ length: 4097 }, (_, i) => {
  const t = i / 4096
  return t > EPSILON ? Math.cbrt(t) : (KAPPA * t + 16) / 116
})

function labCurve(t: number): number {
  const v = t * 4096
  const i = Math.min(v | 0, 4095)
  return labCurveOf[i] + (labCurveOf[i + 1] - labCurveOf[i]) * (v - i)
}

function labCurveInverse(f: number): number {
  const cube = f * f * f
  return cube > EPSILON ? cube : (116 * f - 16) / KAPPA
}

/** sRGB in 0 to 255 → CIE Lab (D65; L 0 to 100). A fourth channel is dropped. */
export function rgbToLab(rgb: Colours): Colours {
  const { width, height, channels, data } = rgb
  const out = new Float32Array(width * height * 3)
  for (let i = 0, j = 0; j < out.length; i += channels, j += 3) {
    const r = toLinear(data[i])
    const g = toLinear(data[i + 1])
    const b = toLinear(data[i + 2])
    const x = labCurve((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / WHITE_X)
    const y = labCurve(0.2126729 * r + 0.7151522 * g + 0.072175 * b)
    const z = labCurve((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / WHITE_Z)
    out[j] = 116 * y - 16
    out[j + 1] = 500 * (x - y)
    out[j + 2] = 200 * (y - z)
  }
  return { width, height, channels: 3, data: out }
}

/** CIE Lab (D65) → sRGB in 0 to 255, clipped to the gamut. */
export function labToRgb(lab: Colours): Colours {
  const { width, height, channels, data } = lab
  const out = new Float32Array(width * height * 3)
  for (let i = 0, j = 0; j < out.length; i += channels, j += 3) {
    const fy = (data[i] + 16) / 116
    const x = WHITE_X * labCurveInverse(fy + data[i + 1] / 500)
    const y = labCurveInverse(fy)
    const z = WHITE_Z * labCurveInverse(fy - data[i + 2] / 200)
    out[j] = Math.min(255, toGamma(3.2404542 * x - 1.5371385 * y - 0.4985314 * z))
    out[j + 1] = Math.min(255, toGamma(-0.969266 * x + 1.8760108 * y + 0.041556 * z))
    out[j + 2] = Math.min(255, toGamma(0.0556434 * x - 0.2040259 * y + 1.0572252 * z))
  }
  return { width, height, channels: 3, data: out }
}

/** A colour in CIE Lab. */
export type Lab = readonly [lightness: number, a: number, b: number]

/** ΔE (CIE 1976) between pixel `i` of a CIE Lab bitmap and pixel `j` of another. */
export function deltaE(one: Colours, i: number, other: Colours, j = i): number {
  const a = 3 * i
  const b = 3 * j
  return norm(one.data[a] - other.data[b], one.data[a + 1] - other.data[b + 1], one.data[a + 2] - other.data[b + 2])
}

/** Distance in a and b between pixel `i` of a CIE Lab bitmap and `colour` scaled to the pixel's lightness. */
export function tintApart({ data }: Colours, i: number, [lightness, a, b]: Lab): number {
  const k = i * 3
  const share = data[k] / Math.max(1, lightness)
  return norm(data[k + 1] - share * a, data[k + 2] - share * b)
}

/**
 * Distance of pixel `i` from a Lab colour at any illumination: the distance in a and b at the pixel's own lightness, plus the share
 * `lightness` of the difference in L. Less light scales L + 16, a and b equally, because CIE Lab is a cube root of light.
 */
export function apartInLight(
  { data }: Colours,
  i: number,
  { colour: [l, a, b], lightness }: { colour: Lab; lightness: number },
): number {
  const k = i * 3
  const light = (data[k] + 16) / (l + 16)
  return norm(data[k + 1] - a * light, data[k + 2] - b * light, lightness * (data[k] - l))
}
