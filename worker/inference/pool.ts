import type { InferenceHost } from './host.ts'

export interface Inference extends Pick<InferenceHost, 'run' | 'stop'> {
  /** How many processes can take work or are at it. */
  countReady(): number
}

/** Several inference processes as one: work goes to an idle one, or waits for the first that becomes idle. */
export function createInferencePool(hosts: readonly InferenceHost[]): Inference {
  const waiting: (() => void)[] = []
  const idle = () => hosts.find((host) => host.isReady() && !host.isBusy())

  return {
    run: async (work, request, options) => {
      let host = idle()
      while (!host && hosts.some((one) => one.isBusy())) {
        await new Promise<void>((resolve) => waiting.push(resolve))
        options.signal.throwIfAborted()
        host = idle()
      }
      try {
        return await (host ?? hosts[0]).run(work, request, options)
      } finally {
        waiting.shift()?.()
      }
    },
    countReady: () => hosts.filter((host) => host.isReady()).length,
    stop: async () => {
      await Promise.all(hosts.map((host) => host.stop()))
    },
  }
}
