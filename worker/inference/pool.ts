import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { InferenceHost } from './host.ts'

export interface Inference extends Pick<InferenceHost, 'run' | 'evict' | 'stop'> {
  /** Number of processes that are idle or busy, without those that are starting. */
  countReady(): number
  /** Why a process failed to become ready; null without a problem. */
  problem(): string | null
  /** Engines whose files a process waits for. */
  findWaiting(): readonly string[]
  /** Seconds that the longest download of an engine's files took; null without one. */
  downloadSeconds(): number | null
}

/** Max wait for a process to restart if all processes have exited: a crash must not fail the next request. */
const RESTART_WAIT_MS = 20_000
const POLL_MS = 50

/**
 * Distributes work over several inference processes: to an idle process, or to the first that becomes idle. Throws a
 * retryable `SERVICE_UNAVAILABLE` if no process becomes ready in time, and errors of `assertHealthy`, which runs first.
 */
export function createInferencePool(hosts: readonly InferenceHost[], assertHealthy: () => void = () => {}): Inference {
  const waiting: (() => void)[] = []
  const idle = () => hosts.find((host) => host.isReady() && !host.isBusy())

  async function waitForIdleHost(until: number): Promise<void> {
    if (hosts.some((one) => one.isBusy())) await new Promise<void>((resolve) => waiting.push(resolve))
    else if (performance.now() < until) await sleep(POLL_MS)
    else throw new DrapeError('SERVICE_UNAVAILABLE', 'No inference process is ready.', { retryable: true })
  }

  return {
    run: async (work, request, options) => {
      const until = performance.now() + RESTART_WAIT_MS
      // Assign work to an idle host in the same turn of the event loop, before another request selects it.
      for (;;) {
        options.signal.throwIfAborted()
        assertHealthy()
        const host = idle()
        if (host) return host.run(work, request, options).finally(() => waiting.shift()?.())
        await waitForIdleHost(until)
      }
    },
    countReady: () => hosts.filter((host) => host.isReady()).length,
    problem: () => hosts.map((host) => host.problem()).find((problem) => problem !== null) ?? null,
    findWaiting: () => [...new Set(hosts.flatMap((host) => host.downloads().engines))],
    downloadSeconds: () => {
      const known = hosts.map((host) => host.downloads().downloadSeconds).filter((seconds) => seconds !== null)
      return known.length === 0 ? null : Math.max(...known)
    },
    evict: (garmentHashes) => {
      for (const host of hosts) host.evict(garmentHashes)
    },
    stop: async () => {
      await Promise.all(hosts.map((host) => host.stop()))
    },
  }
}
