import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/** A TCP proxy that can lose responses after the server has handled the request. */
export interface LosingLine extends AsyncDisposable {
  readonly port: number
  /** From now on, closes a connection when the server responds to a request that contains the text. Returns a function that ends this. */
  loseAnswersTo(text: string): () => void
  /** Number of lost responses so far. */
  readonly lost: number
}

export async function startLosingLine(target: { host: string; port: number }): Promise<LosingLine> {
  const texts = new Set<string>()
  const open = new Set<Socket>()
  let lost = 0
  const server = createServer({ noDelay: true }, (near) => {
    const far = createConnection({ ...target, noDelay: true })
    let isDoomed = false
    near.on('data', (piece) => {
      isDoomed ||= [...texts].some((text) => piece.includes(text))
      far.write(piece)
    })
    far.on('data', (piece) => {
      if (!isDoomed) return void near.write(piece)
      lost++
      near.resetAndDestroy()
      far.destroy()
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    loseAnswersTo: (text) => {
      texts.add(text)
      return () => void texts.delete(text)
    },
    get lost() {
      return lost
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
