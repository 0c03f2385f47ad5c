import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeError } from '../../api/shared/errors.ts'
import type { InferenceHost } from './host.ts'

export interface Inference extends Pick<InferenceHost, 'run' | 'forget' | 'countKept' | 'stop'> {
  /** How many processes can take work or are at it. */
  countReady(): number
  /** Why a process could not become ready; null when none had a problem. */
  problem(): string | null
}

/** Work that finds every process gone waits so long for one to come back; a crash is no fault of the work that comes after it. */
const COMEBACK_MS = 20_000
const LOOK_MS = 50

/**
 * Several inference processes as one: work goes to an idle one, or waits for the first that becomes idle. Throws a retryable
 * `SERVICE_UNAVAILABLE` when none is there for long, and what `assertWell` throws before work is given to any.
 */
export function createInferencePool(hosts: readonly InferenceHost[], assertWell: () => void = () => {}): Inference {
  const waiting: (() => void)[] = []
  const idle = () => hosts.find((host) => host.isReady() && !host.isBusy())

  async function untilSomeMayBeIdle(until: number): Promise<void> {
    if (hosts.some((one) => one.isBusy())) await new Promise<void>((resolve) => waiting.push(resolve))
    else if (performance.now() < until) await sleep(LOOK_MS)
    else throw new DrapeError('SERVICE_UNAVAILABLE', 'No inference process is ready.', { retryable: true })
  }

  return {
    run: async (work, request, options) => {
      const until = performance.now() + COMEBACK_MS
      // An idle host gets its work in the same turn of the event loop, before another request finds it as well.
      for (;;) {
        options.signal.throwIfAborted()
        assertWell()
        const host = idle()
        if (host) return host.run(work, request, options).finally(() => waiting.shift()?.())
        await untilSomeMayBeIdle(until)
      }
    },
    countReady: () => hosts.filter((host) => host.isReady()).length,
    problem: () => hosts.map((host) => host.problem()).find((problem) => problem !== null) ?? null,
    forget: (garmentHashes) => {
      for (const host of hosts) host.forget(garmentHashes)
    },
    countKept: () => hosts.reduce((sum, host) => sum + host.countKept(), 0),
    stop: async () => {
      await Promise.all(hosts.map((host) => host.stop()))
    },
  }
}
