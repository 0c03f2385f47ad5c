import { afterEach, describe, expect, it } from 'vitest'
import { watchQueues } from '../../../worker/job/watchdog.ts'
import { until } from '../../support/until.ts'

describe('the queue watchdog', () => {
  const stops: (() => void)[] = []
  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
  })

  /** A queue with the given counts at each poll; returns the number of polls and the reported problems. */
  function watch({ waiting = 1, isIdle = true, takes = false, canWork = true }) {
    let looks = 0
    let taken = 0
    const stuck: string[] = []
    const { stop } = watchQueues({
      redis: {
        isReady: () => true,
        countWaiting: async () => {
          looks++
          if (takes) taken++
          return waiting
        },
      },
      consumers: [{ name: 'try-on', isIdle: () => isIdle, countTaken: () => taken }],
      canWork: () => {
        if (!canWork) looks++
        return canWork
      },
      onStuck: (queue) => stuck.push(queue),
      everyMs: 5,
    })
    stops.push(stop)
    return { stuck, looked: (times: number) => until(() => looks >= times) }
  }

  it('reports a stuck queue when jobs wait while a worker is idle', async () => {
    const { stuck, looked } = watch({})
    await looked(3)
    expect(stuck).toContain('try-on')
  })

  it('reports no stuck queue when the queue is empty or moving, or the worker cannot work', async () => {
    const watched = [watch({ waiting: 0 }), watch({ takes: true }), watch({ canWork: false })]
    for (const { stuck, looked } of watched) {
      await looked(5)
      expect(stuck).toEqual([])
    }
  })
})
