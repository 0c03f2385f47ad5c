const MULTIPLIERS = [0xd2511f53, 0xcd9e8d57] as const
const KEY_STEPS = [0x9e3779b9, 0xbb67ae85] as const
const ROUNDS = 10

/**
 * `count` values from the unit normal distribution that depend only on the seed and the position.
 * Numbers 4·b to 4·b + 3 come from block b of Philox4x32-10 with the counter [b, 0, 0, 0] and the seed's 64 bits as key (lower half
 * first); its words w0, w1 give r = √(−2 ln((w0 + 1) / 2³²)) and r · cos(2π w1 / 2³²), r · sin(2π w1 / 2³²); w2, w3 the
 * other two.
 * Sources: Salmon et al. 2011, "Parallel Random Numbers: As Easy as 1, 2, 3"; Box and Muller 1958.
 */
export function gaussianNoise(count: number, seed: number): Float32Array {
  const key = BigInt.asUintN(64, BigInt(seed))
  const keys = [Number(key & 0xffffffffn), Number(key >> 32n)] as const
  const out = new Float32Array(count)
  for (let i = 0; i < count; i += 4) {
    const words = philox([i / 4, 0, 0, 0], keys)
    for (let k = 0; k < 4 && i + k < count; k += 2) {
      const radius = Math.sqrt(-2 * Math.log((words[k] + 1) / 2 ** 32))
      const angle = (2 * Math.PI * words[k + 1]) / 2 ** 32
      out[i + k] = radius * Math.cos(angle)
      // Past the end of an array of odd length nothing is stored.
      out[i + k + 1] = radius * Math.sin(angle)
    }
  }
  return out
}

type Words = [number, number, number, number]

/** Philox4x32-10 of Salmon et al. 2011: four words of 32 bits for a counter of four and a key of two. */
export function philox(counter: Readonly<Words>, key: readonly [number, number]): Words {
  let [a, b, c, d] = counter
  let [k, l] = key
  for (let round = 0; round < ROUNDS; round++) {
    const high = multiplyHigh(MULTIPLIERS[1], c)
    const low = Math.imul(MULTIPLIERS[1], c)
    const otherHigh = multiplyHigh(MULTIPLIERS[0], a)
    const otherLow = Math.imul(MULTIPLIERS[0], a)
    a = (high ^ b ^ k) >>> 0
    b = low >>> 0
    c = (otherHigh ^ d ^ l) >>> 0
    d = otherLow >>> 0
    k = (k + KEY_STEPS[0]) >>> 0
    l = (l + KEY_STEPS[1]) >>> 0
  }
  return [a, b, c, d]
}

/** The upper 32 bits of the product of two words. */
function multiplyHigh(a: number, b: number): number {
  const lower = a & 0xffff
  const upper = a >>> 16
  const otherLower = b & 0xffff
  const otherUpper = b >>> 16
  const first = upper * otherLower + ((lower * otherLower) >>> 16)
  const second = lower * otherUpper + (first & 0xffff)
  return upper * otherUpper + (first >>> 16) + (second >>> 16)
}
