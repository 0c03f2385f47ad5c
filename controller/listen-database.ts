import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openSession } from '../api/shared/database/session.ts'

const CONNECT_MS = 5000
const RECONNECT_MS = 1000
/** Interval of the own notifications, by which a silent connection is noticed. */
const CHECK_MS = 5000

export interface Listening {
  /** Whether notifications arrive. While they do not, `onNotify` is called every second. */
  isListening(): boolean
  stop(): Promise<void>
}

/**
 * Calls `onNotify` for every notification on the channel, and whenever listening starts, because earlier notifications are
 * lost. Reconnects automatically until stopped: when the connection ends, and when it delivers no notification of its own.
 */
export function listenDatabase(
  url: string,
  channel: string,
  { onNotify, onFault }: { onNotify: () => void; onFault: (error: unknown) => void },
): Listening {
  const stopping = new AbortController()
  let isListening = false
  let fault = ''
  const lose = (error: unknown) => {
    isListening = false
    const reason = String(error)
    if (reason !== fault && !stopping.signal.aborted) onFault(error)
    fault = reason
  }
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const onListening = () => {
        isListening = true
        fault = ''
        onNotify()
      }
      await listen(url, channel, { onNotify, onListening, signal: stopping.signal }).catch(lose)
      await pause(RECONNECT_MS, stopping.signal)
    }
  })()
  const polling = setInterval(() => {
    if (!isListening) onNotify()
  }, RECONNECT_MS)
  return {
    isListening: () => isListening,
    stop: async () => {
      clearInterval(polling)
      stopping.abort()
      await running
    },
  }
}

interface Listener {
  readonly onNotify: () => void
  readonly onListening: () => void
  readonly signal: AbortSignal
}

/** Listens until the signal. Throws when notifications do not arrive, or no longer. */
async function listen(url: string, channel: string, { onNotify, onListening, signal }: Listener): Promise<void> {
  const { client, isPooled } = await openSession(url, { name: 'drape-listen', connectMs: CONNECT_MS })
  const own = `drape_${randomUUID()}`
  let heardAt = performance.now()
  client.on('notification', (notification) => {
    if (notification.channel !== own) return onNotify()
    heardAt = performance.now()
  })
  const ended = new Promise<never>((_, reject) => client.once('end', () => reject(new Error('The connection ended'))))
  try {
    if (isPooled) throw new Error('A connection pooler delivers no notifications: set DATABASE_DIRECT_URL')
    const asked = client.query(`listen ${pg.escapeIdentifier(channel)}; listen ${pg.escapeIdentifier(own)}`)
    const isAnswered = await Promise.race([asked.then(() => true), pause(CONNECT_MS, signal), ended])
    if (isAnswered !== true) throw new Error('Postgres does not respond')
    onListening()
    while (!signal.aborted) {
      const askedAt = performance.now()
      client.query('select pg_notify($1, $2)', [own, '']).catch(() => {})
      await Promise.race([pause(CHECK_MS, signal), ended])
      if (!signal.aborted && heardAt < askedAt) throw new Error('Postgres delivers no notifications')
    }
  } finally {
    ended.catch(() => {})
    // A dead connection would not answer the farewell.
    await Promise.race([client.end().catch(() => {}), pause(RECONNECT_MS)])
  }
}

/** Ends early, without an error, when the signal aborts. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}
