import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'

/** Commands that clients send to a Redis. */
export interface Monitor {
  /** Names of the commands since the last call, in lower case; those that a script runs inside the server are not sent. */
  take(): string[]
  close(): void
}

/** https://redis.io/docs/latest/commands/monitor/ */
export async function monitorRedis(url: string): Promise<Monitor> {
  const { hostname, port } = new URL(url)
  const socket = createConnection({ host: hostname, port: Number(port) })
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>()
  socket.on('error', reject)
  const seen: string[] = []
  createInterface({ input: socket }).on('line', (line) => {
    if (line === '+OK') return resolve()
    // +1763738000.123456 [0 127.0.0.1:50000] "evalsha" …
    const [, source, command] = /^\+[\d.]+ \[\d+ ([^\]]+)\] "([^"]+)"/.exec(line) ?? []
    if (command !== undefined && source !== 'lua') seen.push(command.toLowerCase())
  })
  socket.write('MONITOR\r\n')
  await begun
  return {
    take: () => seen.splice(0),
    close: () => socket.destroy(),
  }
}
