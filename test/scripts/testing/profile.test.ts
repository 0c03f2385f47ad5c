import { expect, it } from 'vitest'
import { presentProfile } from '../../../scripts/testing/profile.ts'

it('the profile of a run has a row for each file, the most expensive first, and sums', () => {
  const cheap = { file: 'test/a.test.ts', endedAt: 67_000, seconds: 9, own: 1, children: 0, programs: [] }
  const programs = [
    '/bin/node api/main.ts',
    '/bin/node worker/main.ts',
    '/bin/node api/main.ts',
    '/usr/bin/redis-server --port',
  ]
  const dear = { file: 'test/b.test.ts', endedAt: 31_000, seconds: 4, own: 1.5, children: 2, programs }
  const whole = { startedAt: 1000, seconds: 70, processorSeconds: 6 }
  expect(presentProfile([cheap, dear], whole).split('\n').slice(1)).toEqual([
    '     0.5     4.0     3.5     1.5       2.0  test/b.test.ts: 2 api, 1 worker, 1 redis-server',
    '     1.1     9.0     1.0     1.0       0.0  test/a.test.ts: ',
    '     1.1    13.0     4.5     2.5       2.0  2 files: 2 api, 1 worker, 1 redis-server',
    'The whole run took 6.0 s of processor time in 70.0 s.',
  ])
})
