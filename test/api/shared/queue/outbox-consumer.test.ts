import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type OutboxConsumerOptions, startOutboxConsumer } from '../../../../api/shared/queue/outbox-consumer.ts'
import type { Log } from '../../../../api/shared/telemetry/log.ts'
import { until } from '../../../support/until.ts'

const HOUR_MS = 3_600_000

describe('an outbox consumer', () => {
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  /** Items wait in `waiting`; those in `open` are handled until their entry is called. */
  function start(waiting: string[], options: Partial<OutboxConsumerOptions<string>> = {}) {
    const open = new Map<string, { end: () => void; fail: (error: Error) => void }>()
    const claims: { limit: number; inFlight: Readonly<Record<string, number>> }[] = []
    const lines: string[] = []
    const write = (level: string) => (_: unknown, message: string) => void lines.push(`${level}: ${message}`)
    const log = { warn: write('warn'), debug: write('debug') } as unknown as Log
    const consumer = startOutboxConsumer<string>({
      name: 'test',
      concurrency: 2,
      idleMs: HOUR_MS,
      failureMs: HOUR_MS,
      log,
      claim: async (claiming) => {
        claims.push(claiming)
        return { items: waiting.splice(0, claiming.limit) }
      },
      handle: (item) => new Promise<void>((resolve, reject) => open.set(item, { end: resolve, fail: reject })),
      ...options,
    })
    stops.push(() => {
      for (const { end } of open.values()) end()
      return consumer.stop()
    })
    return { consumer, open, claims, lines }
  }
  const settle = async () => {
    for (let i = 0; i < 20; i++) await turn()
  }

  it('claims items up to the limit, and more as soon as one ends', async () => {
    const { consumer, open, claims } = start(['a', 'b', 'c', 'd'])
    await until(() => open.size === 2)
    // It is full: a notification must not claim.
    consumer.wake()
    await settle()
    expect([[...open.keys()], claims.length]).toEqual([['a', 'b'], 1])
    open.get('a')?.end()
    await until(() => open.size === 3)
    expect([...open.keys()]).toEqual(['a', 'b', 'c'])
    expect(claims.at(-1)).toEqual({ limit: 1, inFlight: {} })
  })

  it('limits items by key, and claims again when one ends, even below the total limit', async () => {
    const { open, claims } = start(['a1', 'a2', 'b1'], { concurrency: 9, keyOf: (item) => item.charAt(0) })
    await until(() => claims.length === 2)
    expect(claims[1]).toEqual({ limit: 6, inFlight: { a: 2, b: 1 } })
    await settle()
    open.get('a1')?.end()
    await until(() => claims.length === 3)
    expect(claims[2]).toEqual({ limit: 7, inFlight: { a: 1, b: 1 } })
  })

  it('claims immediately after a notification, even one that arrives during a claim', async () => {
    const found = Promise.withResolvers<{ items: string[] }>()
    let claims = 0
    const { consumer } = start([], { claim: () => (claims++ === 0 ? found.promise : Promise.resolve({ items: [] })) })
    consumer.wake()
    found.resolve({ items: [] })
    await until(() => claims === 2)
    await settle()
    expect(claims).toBe(2)
    consumer.wake()
    await until(() => claims === 3)
  })

  it('polls an outbox without notifications', async () => {
    const waiting: string[] = []
    const { open } = start(waiting, { idleMs: 1 })
    await settle()
    waiting.push('a')
    await until(() => open.has('a'))
  })

  it('waits after a failed claim despite notifications, and logs only the first failure', async () => {
    let claims = 0
    const claim = async () => {
      claims++
      throw new Error('Postgres is unavailable')
    }
    const patient = start([], { claim })
    await until(() => patient.lines.length > 0)
    patient.consumer.wake()
    await settle()
    expect(claims).toBe(1)
    const quick = start([], { claim, failureMs: 1 })
    await until(() => quick.lines.length >= 3)
    expect(quick.lines.slice(0, 3)).toEqual(['warn', 'debug', 'debug'].map((level) => `${level}: test pass failed`))
  })

  it.each(['fails', 'asks for a pause'])('pauses when a handler %s', async (how) => {
    const waiting = ['a', 'b']
    const { consumer, claims, lines } = start(waiting, {
      concurrency: 1,
      handle: async (_, { pause }) => {
        if (how === 'fails') throw new Error('the queue is unavailable')
        pause(HOUR_MS)
      },
    })
    await settle()
    consumer.wake()
    await settle()
    expect([waiting, claims.length]).toEqual([['b'], 1])
    expect(lines).toEqual(how === 'fails' ? ['warn: test pass failed'] : [])
  })

  it('signals handlers, stops when they have ended, and claims nothing more', async () => {
    const ended: string[] = []
    const waiting = ['a', 'b', 'c']
    const { consumer, claims } = start(waiting, {
      handle: (item, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(void ended.push(item)))),
    })
    await settle()
    await consumer.stop()
    expect([ended, waiting, claims.length]).toEqual([['a', 'b'], ['c'], 1])
  })
})
