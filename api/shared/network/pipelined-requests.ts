import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** Maximum unanswered requests per connection; browsers and most HTTP clients send one at a time. */
const MAX_UNANSWERED = 100

interface Connection {
  unanswered: number
  latest: ServerResponse
}

/**
 * Handles the requests of a connection sequentially. A packet of 64 KB may contain thousands of requests (RFC 9112,
 * 9.3.2), which would all start in the same turn of the event loop. Resolves to whether to handle the request: a
 * connection with more than 100 unanswered requests is closed.
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
    response.on('close', () => connection.unanswered--)
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
  // Not `events.once`, which rejects when the response emits an error.
  await new Promise((resolve) => previous.once('close', resolve))
  // Lets other connections run first.
  await setImmediate()
  return !socket.destroyed
}
