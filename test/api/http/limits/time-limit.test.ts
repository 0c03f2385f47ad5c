import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { within } from '../../../../api/http/limits/time-limit.ts'

describe('a time limit', () => {
  it('returns the result of the work, or throws its error', async () => {
    expect(await within(10_000, Promise.resolve('done'))).toBe('done')
    await expect(within(10_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })

  it('rejects work that never ends', async () => {
    await expect(within(5, once(new EventTarget(), 'never'))).rejects.toThrow('no response within 5 ms')
  })

  it('accepts a response that arrived while the process was busy', async () => {
    // After reading a response, Node runs its timers before it reads again.
    await stat('.')
    const answer = within(20, stat('.'))
    // Long enough for the response to arrive unread, and for the limit to pass.
    block(200)
    expect((await answer).isDirectory()).toBe(true)
  })

  it('counts at most one step for each period in which the process was busy', async () => {
    const exchange = async () => {
      for (let i = 0; i < 4; i += 1) await sleep(2)
      return 'in time'
    }
    const answer = within(100, exchange())
    for (let i = 0; i < 3; i += 1) {
      block(120)
      await new Promise(setImmediate)
    }
    expect(await answer).toBe('in time')
  })

  it('leaves no timer after its end', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    await within(60_000, sleep(1))
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before)
  })
})

/** Keeps the thread busy. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
