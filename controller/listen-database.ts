import pg from 'pg'
import { parseDatabaseUrl } from '../api/shared/database/address.ts'

const RECONNECT_MS = 1000

/**
 * Calls `onNotify` for every notification on the channel, and whenever listening starts, because earlier notifications are
 * lost. Reconnects automatically until stopped.
 */
export function listenDatabase(url: string, channel: string, onNotify: () => void): { stop(): Promise<void> } {
  const address = parseDatabaseUrl(url)
  let client: pg.Client | null = null
  let stopped = false
  const listen = async () => {
    const made = new pg.Client({ ...address, application_name: 'drape-listen', keepAlive: true })
    client = made
    const again = () => {
      made.removeAllListeners('end')
      if (!stopped && client === made) setTimeout(listen, RECONNECT_MS).unref()
    }
    made.on('error', () => {})
    made.on('end', again)
    made.on('notification', onNotify)
    try {
      await made.connect()
      await made.query(`listen ${pg.escapeIdentifier(channel)}`)
      onNotify()
    } catch {
      again()
      await made.end().catch(() => {})
    }
  }
  listen()
  return {
    stop: async () => {
      stopped = true
      await client?.end().catch(() => {})
    },
  }
}
