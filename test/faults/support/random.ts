/** Reproducible pseudo-random numbers. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /** An integer from `least` to `most`. */
  between(least: number, most: number): number
  chance(share: number): boolean
  pick<T>(from: readonly T[]): T
}

/** Mulberry32 (public domain, Tommy Ettinger). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return { next, between, chance: (share) => next() < share, pick: (from) => from[between(0, from.length - 1)] }
}
