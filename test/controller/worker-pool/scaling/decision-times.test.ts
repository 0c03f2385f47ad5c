import { expect, it } from 'vitest'
import { createDecisionTimes } from '../../../../controller/worker-pool/scaling/decision-times.ts'

it('measures from the first notice of new work to the end of the next reconcile', () => {
  const seen: number[] = []
  let ms = 0
  const times = createDecisionTimes(
    (seconds) => seen.push(seconds),
    () => ms,
  )
  times.begin('a')()
  expect(seen).toEqual([])
  times.ask('a')
  ms = 400
  times.ask('a')
  const decided = times.begin('a')
  // Comes too late for this look, and counts for the next.
  times.ask('a')
  ms = 1000
  decided()
  ms = 1500
  times.begin('a')()
  expect(seen).toEqual([1, 1.1])
  times.ask('a')
  times.forgetAll()
  times.begin('a')()
  expect(seen).toHaveLength(2)
})
