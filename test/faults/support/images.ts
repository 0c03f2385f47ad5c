import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Garment images of a shop. The delay of an image is the min duration of a try-on with it. */
export interface GarmentImages {
  readonly port: number
  /** URL of a new image, which was never fetched. */
  next(ms: number): string
  close(): void
}

export async function serveImages(image: Uint8Array): Promise<GarmentImages> {
  const server = createServer(async (request, response) => {
    const ms = Number(new URL(request.url ?? '/', 'http://images').searchParams.get('ms'))
    await sleep(ms)
    response.writeHead(200, { 'content-type': 'image/jpeg' }).end(image)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let served = 0
  return {
    port,
    next: (ms) => `http://127.0.0.1:${port}/garment-${served++}.jpg?ms=${ms}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
