import type { Log } from '../../api/shared/telemetry/log.ts'
import type { DownloadProgress } from '../engines/files/open-complete.ts'

/** Records how an inference process waits for the files of its engines. */
export function createDownloadWait(log: Log) {
  let progress: DownloadProgress = { engines: [], downloadSeconds: null }
  let waits = { since: 0, ms: 0 }
  return {
    note: ({ engines, downloadSeconds }: DownloadProgress): void => {
      const now = performance.now()
      const ms = progress.engines.length > 0 ? now - waits.since : 0
      waits = { since: now, ms: waits.ms + ms }
      progress = { engines, downloadSeconds }
      log.info(progress, engines.length > 0 ? 'waiting for the files of engines' : 'opening an engine')
    },
    /** The process has ended: it waits for nothing. The files stay. */
    end: (): void => {
      progress = { ...progress, engines: [] }
      waits = { since: 0, ms: 0 }
    },
    progress: () => progress,
    /** Time that the current process has waited. */
    waitedMs: () => waits.ms,
  }
}
