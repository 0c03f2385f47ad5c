import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import type { Random } from './random.ts'

export interface LinkFaults {
  /** Latency added in each direction. */
  readonly latencyMs?: number
  /** Share of the chunks of a client at which the connection is reset. */
  readonly cutShare?: number
  /** Holds all bytes without closing a connection, and delivers them after the link is restored. */
  readonly partitioned?: boolean
}

/** A link between two processes with injected faults. */
export interface Link {
  readonly port: number
  /** Replaces the current faults; no faults by default. */
  injectFaults(faults?: LinkFaults): void
  /** Resets all open connections. Returns the count. */
  reset(): number
  /** Number of connections cut so far. */
  readonly cuts: number
  close(): Promise<void>
}

interface Pair {
  readonly near: Socket
  readonly far: Socket
}

/** Forwards connections to a local port. */
export async function createLink(target: number, random: Random): Promise<Link> {
  let faults: LinkFaults = {}
  let cuts = 0
  const pairs = new Set<Pair>()
  const held: (() => void)[] = []

  const whenWhole = (act: () => void) => {
    if (faults.partitioned) held.push(act)
    else act()
  }
  const cut = (pair: Pair) => {
    if (!pairs.delete(pair)) return
    cuts++
    pair.near.resetAndDestroy()
    pair.far.resetAndDestroy()
  }
  const pass = (from: Socket, to: Socket, mayCut: () => boolean) => {
    // Later pieces never overtake earlier ones, whatever the latency is by then.
    let last: Promise<unknown> = Promise.resolve()
    const later = (act: () => void) => {
      const due = new Promise((resolve) => setTimeout(resolve, faults.latencyMs ?? 0))
      last = Promise.all([last, due]).then(() => new Promise<void>((done) => whenWhole(() => done(act()))))
    }
    from.on('data', (piece) => {
      if (!mayCut()) later(() => void (to.destroyed || to.write(piece)))
    })
    from.on('close', () => later(() => to.destroy()))
    from.on('error', () => {})
  }
  const server = createServer({ noDelay: true }, (near) => {
    near.pause()
    whenWhole(() => {
      const far = createConnection({ port: target, host: '127.0.0.1', noDelay: true })
      const pair = { near, far }
      pairs.add(pair)
      pass(near, far, () => {
        const torn = faults.cutShare !== undefined && random.chance(faults.cutShare)
        if (torn) cut(pair)
        return torn
      })
      pass(far, near, () => false)
      far.on('close', () => pairs.delete(pair))
      near.resume()
    })
    near.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    injectFaults: (next = {}) => {
      faults = next
      if (!faults.partitioned) for (const act of held.splice(0)) act()
    },
    reset: () => {
      const open = [...pairs]
      for (const pair of open) cut(pair)
      return open.length
    },
    get cuts() {
      return cuts
    },
    close: async () => {
      server.close()
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
    },
  }
}
