import { describe, expect, it } from 'vitest'
import { decodeBch, encodeBch } from '../../../../worker/outputs/mark/bch.ts'
import { createMarkId, decodeMarkId, encodeMarkId } from '../../../../worker/outputs/mark/payload.ts'

/** Made with `DataLayer(100, encoding_mode=0)` of TrustMark's Python package: ID, its 100 bits, and these with 8 errors that the package corrects. */
const VECTORS = [
  {
    id: '0000000001',
    bits: '0000000000000000000000000000000000000001100101011010000010001110010110101010110010101111111010110000',
    damaged: '0000000000000000100000000000000000000001000101001010010010001110010100100010111010101111011010110000',
  },
  {
    id: 'ffffffffff',
    bits: '1111111111111111111111111111111111111111110101111101100001100000101111101111000111001101010010010000',
    damaged: '1111110111111111111111111111111111111111110101111101100001000000111111101111000011011110010010110000',
  },
  {
    id: 'a6836eda60',
    bits: '1010011010000011011011101101101001100000110101001001011001011010000011000000111110111000011100100000',
    damaged: '1010011110000111011011100101101001100000110101001010011001011110000011010000111111111000011100100000',
  },
  {
    id: 'b24e77c02c',
    bits: '1011001001001110011101111100000000101100101011100111010011010010100100110001001110101000010001110000',
    damaged: '1011001001001101011101111100000000101100101001000111010011001000100100110001011110101000010001110000',
  },
] as const

const bitsOf = (text: string) => [...text].map(Number)
const flip = (bits: readonly number[], at: Iterable<number>) => {
  const flipped = [...bits]
  for (const i of at) flipped[i] ^= 1
  return flipped
}
const toOutput = (bits: ArrayLike<number>) => Array.from(bits, (bit) => bit * 2 - 1)
/** Numbers below `end`, all different. */
const pick = (count: number, end: number) => {
  const picked = new Set<number>()
  while (picked.size < count) picked.add(Math.floor(Math.random() * end))
  return picked
}

describe('the payload of a mark', () => {
  it('is encoded and decoded like in TrustMark', () => {
    for (const { id, bits, damaged } of VECTORS) {
      expect([...encodeMarkId(id)].join('')).toBe(bits)
      expect(decodeMarkId(toOutput(bitsOf(damaged)))).toBe(id)
    }
  })

  it('survives any 8 wrong bits, and one wrong bit of the schema', () => {
    for (let round = 0; round < 300; round++) {
      const id = createMarkId()
      const bits = flip([...encodeMarkId(id)], [...pick(8, 96), 96 + (round % 4)])
      expect(decodeMarkId(toOutput(bits))).toBe(id)
    }
  })

  it('is not found in zeros, nor in another schema', () => {
    expect(decodeMarkId(new Float32Array(100).fill(-1))).toBeNull()
    expect(decodeMarkId(new Float32Array(100))).toBeNull()
    expect(decodeMarkId(toOutput(flip([...encodeMarkId('00000000ff')], [98, 99])))).toBeNull()
  })

  it('is found in almost no random word', () => {
    // Expected without the schema: 2 per million.
    let found = 0
    for (let round = 0; round < 20_000; round++) {
      if (decodeBch(Array.from({ length: 96 }, () => (Math.random() < 0.5 ? 0 : 1))) !== null) found++
    }
    expect(found).toBeLessThanOrEqual(3)
  })

  it('differs from any other in at least 17 bits', () => {
    for (let round = 0; round < 2000; round++) {
      const [one, other] = [createMarkId(), createMarkId()].map((id) =>
        encodeBch(bitsOf([...encodeMarkId(id)].slice(0, 40).join(''))),
      )
      expect(one.filter((bit, i) => bit !== other[i]).length).toBeGreaterThanOrEqual(17)
    }
  })
})
