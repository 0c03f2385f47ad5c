import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RequestEntry } from '../../../api/http/request-log.store.ts'
import { createRequestRecorder } from '../../../api/http/request-recorder.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'

const log = createLog({ process: 'test', level: 'silent' })
const entry = (accountId: string): RequestEntry => ({
  accountId,
  method: 'GET',
  route: '/tryon/v1/account',
  status: 200,
  errorCode: null,
  keyLastFour: null,
  durationMs: 1,
  requestId: 'req_1',
  createdAt: new Date(),
})

describe('the recorder of requests', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  const start = (insert: (entries: readonly RequestEntry[]) => Promise<void>) => {
    const drops: Record<string, number> = {}
    const onDrop = (reason: string, count: number) => {
      drops[reason] = (drops[reason] ?? 0) + count
    }
    return { drops, recorder: createRequestRecorder({ requestLog: { insert }, onDrop, log }) }
  }

  it('writes all recorded entries once a second', async () => {
    vi.useFakeTimers()
    const written: number[] = []
    const { recorder, drops } = start(async (entries) => void written.push(entries.length))
    for (let i = 0; i < 3; i++) recorder.record(entry('acc_1'))
    expect(written).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    recorder.record(entry('acc_1'))
    await vi.advanceTimersByTimeAsync(1000)
    await recorder.stop()
    expect(written).toEqual([3, 1])
    expect(drops).toEqual({})
  })

  it('keeps room for other accounts during a flood, and has a total limit', async () => {
    const written: Record<string, number> = {}
    const { recorder, drops } = start(async (entries) => {
      for (const { accountId } of entries) written[accountId] = (written[accountId] ?? 0) + 1
    })
    for (let i = 0; i < 10_000; i++) recorder.record(entry('acc_flood'))
    recorder.record(entry('acc_quiet'))
    for (let i = 0; i < 10_000; i++) recorder.record(entry(`acc_${i}`))
    await recorder.flush()
    expect(written).toMatchObject({ acc_flood: 300, acc_quiet: 1 })
    expect(Object.keys(written)).toHaveLength(4701)
    expect(drops).toEqual({ account: 9700, buffer: 5301 })
    recorder.record(entry('acc_flood'))
    await recorder.stop()
    expect(written.acc_flood).toBe(301)
  })

  it('drops and counts entries that cannot be written, and continues', async () => {
    let isBroken = true
    let written = 0
    const { recorder, drops } = start(async (entries) => {
      if (isBroken) throw new Error('the database is down')
      written += entries.length
    })
    for (let i = 0; i < 5; i++) recorder.record(entry('acc_1'))
    await recorder.flush()
    isBroken = false
    recorder.record(entry('acc_1'))
    await recorder.stop()
    expect([drops, written]).toEqual([{ database: 5 }, 1])
  })

  it('starts no second write while one is slow', async () => {
    vi.useFakeTimers()
    let running = 0
    let most = 0
    const { recorder } = start(async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 3500))
      running--
    })
    for (let i = 0; i < 8; i++) {
      recorder.record(entry('acc_1'))
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(most).toBe(1)
  })
})
