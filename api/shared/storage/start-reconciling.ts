import type { Log } from '../telemetry/log.ts'

const CHECK_MS = 300_000

/**
 * Checks every 5 minutes whether a reconciliation of the storage is due, first 5 minutes after the start. The database
 * elects one process.
 */
export function startStorageReconciling(
  reconcile: () => Promise<void>,
  { log, checkMs = CHECK_MS }: { readonly log: Pick<Log, 'warn'>; readonly checkMs?: number },
): { stop(): Promise<void> } {
  let running: Promise<void> | null = null
  const timer = setInterval(() => {
    running ??= reconcile()
      .catch((error) => log.warn({ err: error }, 'storage reconciliation failed'))
      .finally(() => {
        running = null
      })
  }, checkMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
