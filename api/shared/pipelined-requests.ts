import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** Unanswered requests of one connection; browsers and the HTTP clients of most languages send one at a time. */
const MAX_UNANSWERED = 100

interface Connection {
  unanswered: number
  latest: ServerResponse
}

/**
 * Lets the requests of a connection be handled one after the other: a packet of 64 KB may hold thousands of them (RFC 9112, 9.3.2),
 * which would all begin in the same turn of the event loop. Resolves with whether to handle the request: a connection with more than 100
 * unanswered ones is closed.
 */
export function createPipelines(): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean {
  const connections = new WeakMap<Socket, Connection>()
  return ({ socket }, response) => {
    if (socket.destroyed) return false
    const known = connections.get(socket)
    const connection = known ?? { unanswered: 0, latest: response }
    const { latest: previous } = connection
    connection.latest = response
    connection.unanswered++
    response.once('close', () => connection.unanswered--)
    if (known === undefined) {
      connections.set(socket, connection)
      return true
    }
    if (connection.unanswered > MAX_UNANSWERED) {
      socket.destroy()
      return false
    }
    return previous.writableFinished || inTurn(previous, socket)
  }
}

async function inTurn(previous: ServerResponse, socket: Socket): Promise<boolean> {
  // No `events.once`, which an error of the response would reject.
  await new Promise((resolve) => previous.once('close', resolve))
  // Other connections have their turn first.
  await setImmediate()
  return !socket.destroyed
}
