import { expect, it } from 'vitest'
import { defaultDeadline } from '../../../../api/generations/engines/deadline.ts'
import type { KnownEngine } from '../../../../api/generations/engines/directory.ts'

const engine = { name: 'studio' } as KnownEngine
const estimate = (estimatedSeconds: number) => ({
  estimatedSeconds,
  estimatedStartSeconds: 0,
  estimatedStartRange: { min: 0, max: 0 },
})
const pool = (warmupSeconds: number, startSeconds: number | null) => ({
  name: 'studio',
  license: 'Apache-2.0',
  maxSlots: 1,
  garmentTypes: null,
  warmupSeconds,
  startSeconds,
})

it.each([
  ['nothing is known', null, null, 300],
  ['the queue is short', estimate(100), null, 300],
  ['the queue is long', estimate(150), null, 450],
  ['the queue is longer than any deadline', estimate(5000), null, 3600],
  ['the pool has never started', null, pool(900, null), 900],
  ['the start of the pool is known', estimate(150), pool(900, 240.4), 1141],
  ['the pool may take longer than any deadline', null, pool(3600, 600), 3600],
])('the deadline of a call that names none, if %s', async (_, estimated, published, seconds) => {
  const chosen = { engine: { ...engine, published }, estimating: Promise.resolve(estimated) }
  expect(await defaultDeadline(chosen)).toBe(seconds)
})
