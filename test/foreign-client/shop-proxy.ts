import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/** The proxy of a shop before an API in development: adds the headers that name the shop. */
export async function startDevelopmentProxy(
  apiUrl: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ url: string; stop(): void }> {
  const server = createServer((asked, answer) => {
    const { method, url = '/' } = asked
    const { host: _, ...sent } = asked.headers
    const forwarded = request(`${apiUrl}${url}`, { method, headers: { ...sent, ...headers } }, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers)
      pipeline(received, answer, () => {})
    })
    forwarded.on('error', () => answer.destroy())
    pipeline(asked, forwarded, () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
