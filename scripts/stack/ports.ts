import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'

/** A port that nobody else can take until it is released to the process that will listen on it. */
export interface ReservedPort {
  readonly port: number
  release(): Promise<void>
}

/** Takes exactly this port. Throws when another process listens on it. */
export async function reservePort(port: number): Promise<ReservedPort> {
  const server = await listen(port)
  if (server === undefined) throw new Error(`Port ${port} is in use by another process`)
  return reserved(server)
}

// Below the range from which systems take the local ports of outgoing connections: one of those could otherwise sit on the
// port of a part in the moment in which it is started again.
const LOWEST = 20_000
const HIGHEST = 32_000

/** Takes the preferred port when it is free, otherwise any free one. */
export async function reserveFreePort(preferred?: number): Promise<ReservedPort> {
  const first = preferred === undefined ? undefined : await listen(preferred)
  if (first !== undefined) return reserved(first)
  for (let attempt = 0; attempt < 100; attempt++) {
    const server = await listen(randomInt(LOWEST, HIGHEST))
    if (server !== undefined) return reserved(server)
  }
  throw new Error(`No port between ${LOWEST} and ${HIGHEST} is free`)
}

function reserved(server: Server): ReservedPort {
  const address = server.address()
  if (address === null || typeof address !== 'object') throw new Error('The server listens on no port')
  return {
    port: address.port,
    release: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(new Error(`Port ${port} cannot be used: ${error.message}`))
    })
    server.listen(port, () => resolve(server))
  })
}
