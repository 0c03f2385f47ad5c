/** Rounds to the nearest integer, halves to even. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  if (rest === 0.5) return floor + (floor % 2 === 0 ? 0 : 1)
  return rest < 0.5 ? floor : floor + 1
}
