const ROUNDS = 5

/**
 * Measures both sides in turn and returns the best of each: what else the machine does can only make them worse. One round
 * before the first warms both up.
 */
export async function alternate(sides: {
  ours: () => Promise<number>
  anchor: () => Promise<number>
  /** Whether more is better. */
  best: 'most' | 'least'
}): Promise<{ ours: number; anchor: number }> {
  const pick = sides.best === 'most' ? Math.max : Math.min
  await sides.ours()
  await sides.anchor()
  const ours: number[] = []
  const anchor: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await sides.ours())
    anchor.push(await sides.anchor())
  }
  return { ours: pick(...ours), anchor: pick(...anchor) }
}
