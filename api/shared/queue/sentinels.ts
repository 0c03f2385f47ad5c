import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectSecurely } from 'node:tls'
import { RedisClient } from 'redis'
import { parseSentinelUrl, type SentinelAddress } from '../network/service-urls.ts'

/** Of each question to a Sentinel, and to the server that it names. */
const ASK_MS = 1000
/** Of a Unix socket, on all systems. */
const MAX_PATH = 103
/** As the clients themselves do it. */
const KEEP_ALIVE_MS = 30_000

/** `createClient` would make a class for each address. */
const openClient = RedisClient.factory({})

interface Server {
  readonly host: string
  readonly port: number
}

export interface Relay {
  /** Options of clients. */
  readonly place: {
    readonly path: string
    readonly username?: string
    readonly password?: string
    readonly database: number
  }
  close(): void
}

/**
 * Listens on a Unix socket and connects each client to the primary that Sentinels name at that time; null for the URL of one server. So
 * every client reconnects to the new primary after a failover, also those that BullMQ copies: the package can change the address of none.
 * `onFault` receives the reason why a client was disconnected.
 */
export function relayToPrimary(url: string, { onFault }: { onFault: (error: Error) => void }): Relay | null {
  const address = parseSentinelUrl(url)
  if (address === null) return null
  const path = makeSocketPath()
  const server = createServer(async (near) => {
    near.on('error', () => {})
    try {
      const { host, port } = await findPrimary(address)
      if (near.destroyed) return
      const place = { host, port, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, noDelay: true }
      const far = address.tls ? connectSecurely(place) : createConnection(place)
      near.pipe(far).pipe(near)
      near.once('close', () => far.destroy())
      far.once('error', onFault).once('close', () => near.destroy())
    } catch (error) {
      onFault(error as Error)
      near.destroy()
    }
  })
  server.on('error', onFault).listen(path).unref()
  return {
    place: { ...address.login, database: address.database, path },
    close: () => void server.close(),
  }
}

/** Folder of the sockets of this process, which no other user can enter. */
let folder: string | undefined
let sockets = 0

function makeSocketPath(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'drape-redis-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  const path = join(folder, String(sockets++))
  if (path.length > MAX_PATH)
    throw new Error(`TMPDIR is too long for a socket: ${path} has more than ${MAX_PATH} characters`)
  return path
}

/**
 * The server that a Sentinel names, if it is a primary. A Sentinel that was away names the former one for seconds.
 * @throws Error with the reason of each Sentinel
 */
async function findPrimary(address: SentinelAddress): Promise<Server> {
  const { sentinels, name, login, sentinelPassword: password, tls } = address
  const found = sentinels.map(async (sentinel) => {
    try {
      const named = await ask(sentinel, { password, tls }, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
      if (!Array.isArray(named)) throw new Error(`does not know ${name}`)
      const server = { host: String(named[0]), port: Number(named[1]) }
      const replication = String(await ask(server, { ...login, tls }, ['INFO', 'replication']))
      if (!/^role:master/m.test(replication)) throw new Error(`names ${server.host}, which is no primary`)
      return server
    } catch (error) {
      throw new Error(`${sentinel.host}:${sentinel.port}: ${error instanceof Error ? error.message : error}`)
    }
  })
  return Promise.any(found).catch(({ errors }: AggregateError) => {
    throw new Error(errors.map(({ message }) => message).join('; '))
  })
}

async function ask(
  { host, port }: Server,
  { tls, ...login }: { username?: string; password?: string; tls: boolean },
  command: readonly string[],
): Promise<unknown> {
  const limits = { connectTimeout: ASK_MS, socketTimeout: ASK_MS, reconnectStrategy: false } as const
  const client = openClient({ ...login, socket: { host, port, ...(tls && { tls }), ...limits } })
  client.on('error', () => {})
  try {
    await client.connect()
    return await client.sendCommand(command)
  } finally {
    client.destroy()
  }
}
