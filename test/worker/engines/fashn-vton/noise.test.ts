import { describe, expect, it } from 'vitest'
import { gaussianNoise, philox } from '../../../../worker/engines/fashn-vton/noise.ts'

describe('the initial noise', () => {
  // Of Random123 1.14, kat_vectors, philox4x32 with ten rounds.
  it.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ] as const)('comes from Philox as published: %j', (counter, key, words) => {
    expect(philox([...counter], [...key])).toEqual(words)
  })

  it('is normally distributed', () => {
    const noise = gaussianNoise(200_000, 42)
    const mean = noise.reduce((sum, value) => sum + value, 0) / noise.length
    const moment = (power: number) => noise.reduce((sum, value) => sum + (value - mean) ** power, 0) / noise.length
    expect(Math.abs(mean)).toBeLessThan(0.01)
    expect(moment(2)).toBeCloseTo(1, 1.5)
    expect(Math.abs(moment(3))).toBeLessThan(0.05)
    expect(moment(4)).toBeCloseTo(3, 0.5)
    const beyond = noise.filter((value) => Math.abs(value) > 1.959964).length / noise.length
    expect(beyond).toBeCloseTo(0.05, 2)
  })

  it('is equal for equal seed and position, at any length', () => {
    const noise = gaussianNoise(1003, 7)
    expect(gaussianNoise(1003, 7)).toEqual(noise)
    expect(gaussianNoise(9, 7)).toEqual(noise.subarray(0, 9))
  })

  it('differs for each seed', () => {
    const seeds = [7, 8, -7, 7 + 2 ** 32]
    expect(new Set(seeds.map((seed) => gaussianNoise(4, seed).join())).size).toBe(seeds.length)
  })
})
