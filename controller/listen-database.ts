import pg from 'pg'

const LISTEN_AGAIN_MS = 1000

/**
 * Calls back with every notification on the channel, and whenever it begins to listen: what was said before is lost. When the
 * connection breaks it listens again by itself, until it is stopped.
 */
export function listenDatabase(url: string, channel: string, onNotify: () => void): { stop(): Promise<void> } {
  let client: pg.Client | null = null
  let stopped = false
  const listen = async () => {
    const made = new pg.Client({ connectionString: url, application_name: 'drape-listen', keepAlive: true })
    client = made
    const again = () => {
      made.removeAllListeners('end')
      if (!stopped && client === made) setTimeout(listen, LISTEN_AGAIN_MS).unref()
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
