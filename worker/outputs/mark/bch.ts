/**
 * The binary BCH code of TrustMark's schema BCH_SUPER: 40 bits of data and 56 check bits, of which any 8 may be wrong. A shortened
 * code of length 127 over GF(2^7), with the field polynomial x^7 + x^3 + 1 and the roots α^1 to α^16 (Lin and Costello, Error Control
 * Coding, chapter 6). Bits are in the order of descending powers of x, the data first.
 */
export const DATA_BITS = 40
export const CHECK_BITS = 56
const CODE_BITS = DATA_BITS + CHECK_BITS

const ORDER = 127
const FIELD_POLYNOMIAL = 0b10001001
const MAX_ERRORS = 8

const exponents = new Uint8Array(2 * ORDER)
const logarithms = new Uint8Array(ORDER + 1)
for (let i = 0, power = 1; i < ORDER; i++) {
  exponents[i] = exponents[i + ORDER] = power
  logarithms[power] = i
  power <<= 1
  if (power > ORDER) power ^= FIELD_POLYNOMIAL
}

function multiply(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : exponents[logarithms[a] + logarithms[b]]
}

function invert(a: number): number {
  return exponents[ORDER - logarithms[a]]
}

/** The product of (x − root) over all roots; coefficients of ascending powers, all 0 or 1. */
const generator = listRoots().reduce<number[]>(
  (product, root) =>
    Array.from({ length: product.length + 1 }, (_, i) => multiply(product[i] ?? 0, root) ^ (product[i - 1] ?? 0)),
  [1],
)

/** α^1 to α^16 and their conjugates. */
function listRoots(): number[] {
  const powers = new Set<number>()
  for (let i = 1; i < 2 * MAX_ERRORS; i += 2)
    for (let power = i; !powers.has(power); power = (2 * power) % ORDER) powers.add(power)
  return [...powers].map((power) => exponents[power])
}

/** Appends the check bits to 40 bits. */
export function encodeBch(data: readonly number[]): number[] {
  const remainder = [...data, ...new Array<number>(CHECK_BITS).fill(0)]
  for (let i = 0; i < DATA_BITS; i++) {
    if (remainder[i] === 0) continue
    for (let j = 0; j <= CHECK_BITS; j++) remainder[i + j] ^= generator[CHECK_BITS - j]
  }
  return [...data, ...remainder.slice(DATA_BITS)]
}

/** Corrects up to 8 of 96 bits and returns the 40 bits of data; null if the bits are further than that from every code word. */
export function decodeBch(bits: readonly number[]): number[] | null {
  const syndromes = findSyndromes(bits)
  if (syndromes.every((value) => value === 0)) return bits.slice(0, DATA_BITS)
  const locator = findErrorLocator(syndromes)
  const corrected = [...bits]
  let found = 0
  for (let i = 0; i < CODE_BITS; i++) {
    if (evaluate(locator, ORDER - powerOf(i)) !== 0) continue
    corrected[i] ^= 1
    found++
  }
  // Fewer roots than the degree: more than 8 errors, or errors in the bits that the shortened code does not have.
  const isCodeWord = found === locator.length - 1 && findSyndromes(corrected).every((value) => value === 0)
  return isCodeWord ? corrected.slice(0, DATA_BITS) : null
}

/** The power of x that a bit is the coefficient of. */
function powerOf(bit: number): number {
  return CODE_BITS - 1 - bit
}

/** The received polynomial at α^1 to α^16. */
function findSyndromes(bits: readonly number[]): number[] {
  return Array.from({ length: 2 * MAX_ERRORS }, (_, j) =>
    bits.reduce((sum, bit, i) => (bit === 0 ? sum : sum ^ exponents[((j + 1) * powerOf(i)) % ORDER]), 0),
  )
}

/** Value of a polynomial at α^`power`. */
function evaluate(polynomial: readonly number[], power: number): number {
  return polynomial.reduce((sum, value, i) => sum ^ multiply(value, exponents[(i * power) % ORDER]), 0)
}

/** The algorithm of Berlekamp and Massey: the shortest recurrence of the syndromes; coefficients of ascending powers. */
function findErrorLocator(syndromes: readonly number[]): number[] {
  let locator = [1]
  let previous = [1]
  let shift = 1
  let last = 1
  let errors = 0
  for (const [i, syndrome] of syndromes.entries()) {
    const gap = locator.reduce(
      (sum, value, j) => (j === 0 ? sum : sum ^ multiply(value, syndromes[i - j] ?? 0)),
      syndrome,
    )
    if (gap === 0) {
      shift++
      continue
    }
    const factor = multiply(gap, invert(last))
    const next = Array.from(
      { length: Math.max(locator.length, previous.length + shift) },
      (_, j) => (locator[j] ?? 0) ^ multiply(factor, previous[j - shift] ?? 0),
    )
    if (2 * errors > i) shift++
    else {
      errors = i + 1 - errors
      previous = locator
      last = gap
      shift = 1
    }
    locator = next
  }
  return locator.slice(0, locator.findLastIndex((value) => value !== 0) + 1)
}
