/** Different bits of two hashes in hex. */
export function hashDistance(a: string, b: string): number {
  return [...a].reduce((sum, digit, i) => sum + ONES[Number.parseInt(digit, 16) ^ Number.parseInt(b[i], 16)], 0)
}

const ONES = Array.from({ length: 16 }, (_, value) => value.toString(2).replaceAll('0', '').length)
