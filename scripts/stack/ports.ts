import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { acquireLock, type Lock } from './lock.ts'

/** The ports of one stack. */
export interface Ports {
  /** Reserves exactly this port. Throws if another process uses it. */
  take(port: number): Promise<ReservedPort>
  /** Reserves the preferred port if it is free, otherwise any free port. */
  takeFree(preferred?: number): Promise<ReservedPort>
  /** Releases all ports. */
  giveBack(): void
}

/** A port on which no other process can listen until it is released. */
export interface ReservedPort {
  readonly port: number
  /** Releases the port for the process that will listen on it. */
  release(): Promise<void>
}

// Below the ports of Kubernetes services and the ephemeral ones: an outgoing connection could take the port of a part
// that restarts.
const LOWEST = 20_000
const HIGHEST = 30_000

/**
 * Allocates ports. A port requested by number stays claimed between its release and the moment when its process listens,
 * and during restarts: other stacks of this user do not use it.
 */
export function createPorts(): Ports {
  const claims: Lock[] = []

  async function claim(port: number): Promise<ReservedPort | undefined> {
    const lock = acquireLock(join(claimFolder(), `${port}.lock`))
    if ('heldBy' in lock) return undefined
    claims.push(lock)
    return reserve(port)
  }

  return {
    take: async (port) => {
      const reserved = await claim(port)
      if (reserved === undefined) throw new Error(`Port ${port} is in use by another process`)
      return reserved
    },
    takeFree: async (preferred) => {
      const first = preferred === undefined ? undefined : await claim(preferred)
      return first ?? (await reserveFreePort())
    },
    giveBack: () => {
      for (const lock of claims.splice(0)) lock.release()
    },
  }
}

/** Reserves any free port. */
export async function reserveFreePort(): Promise<ReservedPort> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const reserved = await reserve(nextPort())
    if (reserved !== undefined) return reserved
  }
  throw new Error(`No port between ${LOWEST} and ${HIGHEST} is free`)
}

/**
 * The next port in turn, for all processes of this user: a process that was given a port a moment ago, and does not
 * listen yet, keeps it.
 */
function nextPort(): number {
  const database = new DatabaseSync(join(claimFolder(), 'next.sqlite'), { timeout: 10_000 })
  try {
    // A turn that a crash of the machine undoes is no loss.
    database.exec('pragma synchronous = off; create table if not exists next (only integer primary key, turn integer)')
    const advance = 'insert into next values (1, 0) on conflict do update set turn = turn + 1 returning turn'
    const { turn } = database.prepare(advance).get() as { readonly turn: number }
    return LOWEST + (turn % (HIGHEST - LOWEST))
  } finally {
    database.close()
  }
}

function claimFolder(): string {
  const folder = join(tmpdir(), `drape-ports-${process.getuid?.() ?? 0}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

async function reserve(port: number): Promise<ReservedPort | undefined> {
  const server = await listen(port)
  return server && { port, release: () => new Promise((resolve) => server.close(() => resolve())) }
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    // An open connection, for example of a client that waits for a restart, would delay the release without end.
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(new Error(`Port ${port} cannot be used: ${error.message}`))
    })
    server.listen(port, () => resolve(server))
  })
}
