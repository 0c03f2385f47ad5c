import type { Log } from '../api/shared/log.ts'
import type { QueueName, Redis } from '../api/shared/queue.ts'

const EVERY_MS = 5000
/** A worker that has been silent for longer is not counted any more. */
const SILENT_SECONDS = 12

/** Announces this worker's slots for as long as it can take jobs. `withdraw` says at once that it takes none any more. */
export function announceWorker({
  redis,
  worker,
  queues,
  slots,
  canWork,
  log,
}: {
  redis: Redis
  worker: string
  queues: readonly QueueName[]
  slots: number
  canWork: () => boolean
  log: Log
}): { withdraw(): Promise<void> } {
  let withdrawn = false
  const beat = async () => {
    if (withdrawn || !redis.isReady() || !canWork()) return
    try {
      await redis.announce({ queues, worker, slots, seconds: SILENT_SECONDS })
    } catch (error) {
      log.debug({ err: error }, 'heartbeat missed')
    }
  }
  const timer = setInterval(beat, EVERY_MS)
  // The first one comes as soon as there is something to announce, so that a fresh worker gets work at once.
  const soon = setInterval(async () => {
    if (!redis.isReady() || !canWork()) return
    clearInterval(soon)
    await beat()
  }, 50)
  return {
    withdraw: async () => {
      withdrawn = true
      clearInterval(timer)
      clearInterval(soon)
      if (redis.isReady()) await redis.withdraw({ queues, worker, slots })
    },
  }
}
