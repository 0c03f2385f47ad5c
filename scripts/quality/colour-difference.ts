/** A colour in CIE Lab. */
export type Lab = readonly [l: number, a: number, b: number]

const RADIANS = Math.PI / 180
const SEVENTH = 25 ** 7

/**
 * CIEDE2000 with all weights 1: 1 is about the least difference that people see between large patches. The formula is that of Sharma,
 * Wu and Dalal 2005, "The CIEDE2000 color-difference formula: implementation notes".
 */
export function ciede2000([l1, a1, b1]: Lab, [l2, a2, b2]: Lab): number {
  const chroma = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2
  const stretch = 1.5 - 0.5 * Math.sqrt(chroma ** 7 / (chroma ** 7 + SEVENTH))
  const [c1, c2] = [Math.hypot(stretch * a1, b1), Math.hypot(stretch * a2, b2)]
  const [h1, h2] = [hueOf(stretch * a1, b1), hueOf(stretch * a2, b2)]
  const isGrey = c1 * c2 === 0
  const turn = isGrey ? 0 : shortWay(h2 - h1)
  const hue = isGrey ? h1 + h2 : middleOf(h1, h2)
  const [lightness, middle] = [(l1 + l2) / 2, (c1 + c2) / 2]
  const scale = 1 + (0.015 * (lightness - 50) ** 2) / Math.sqrt(20 + (lightness - 50) ** 2)
  const ofLightness = (l2 - l1) / scale
  const ofChroma = (c2 - c1) / (1 + 0.045 * middle)
  const ofHue = (2 * Math.sqrt(c1 * c2) * Math.sin((turn * RADIANS) / 2)) / (1 + 0.015 * middle * hueWeight(hue))
  return Math.sqrt(ofLightness ** 2 + ofChroma ** 2 + ofHue ** 2 + blueRotation(hue, middle) * ofChroma * ofHue)
}

function hueOf(a: number, b: number): number {
  const degrees = Math.atan2(b, a) / RADIANS
  return degrees < 0 ? degrees + 360 : degrees
}

function shortWay(turn: number): number {
  if (turn > 180) return turn - 360
  return turn < -180 ? turn + 360 : turn
}

function middleOf(h1: number, h2: number): number {
  const sum = h1 + h2
  if (Math.abs(h1 - h2) <= 180) return sum / 2
  return sum < 360 ? (sum + 360) / 2 : (sum - 360) / 2
}

function hueWeight(hue: number): number {
  const wave = (times: number, by: number) => Math.cos((times * hue + by) * RADIANS)
  return 1 - 0.17 * wave(1, -30) + 0.24 * wave(2, 0) + 0.32 * wave(3, 6) - 0.2 * wave(4, -63)
}

function blueRotation(hue: number, chroma: number): number {
  const angle = 60 * Math.exp(-(((hue - 275) / 25) ** 2))
  return -2 * Math.sqrt(chroma ** 7 / (chroma ** 7 + SEVENTH)) * Math.sin(angle * RADIANS)
}
