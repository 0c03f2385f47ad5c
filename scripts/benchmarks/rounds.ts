import { bySize } from './size.ts'

const ROUNDS = bySize({ smallest: 1, usual: 5 })

/**
 * Measures both sides alternately and returns the best of each: other load on the machine can only make a result worse. A
 * round before the first warms both up.
 */
export async function alternate(sides: {
  ours: () => Promise<number>
  anchor: () => Promise<number>
  better: 'lower' | 'higher'
}): Promise<{ ours: number; anchor: number }> {
  const pick = sides.better === 'higher' ? Math.max : Math.min
  const ours: number[] = []
  const anchor: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    ours.push(await sides.ours())
    anchor.push(await sides.anchor())
  }
  return { ours: pick(...ours.slice(1)), anchor: pick(...anchor.slice(1)) }
}
