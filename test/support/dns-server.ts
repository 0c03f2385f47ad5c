import { createSocket } from 'node:dgram'
import { isIPv4 } from 'node:net'

export interface DnsServer {
  /** Address in the format of c-ares and `FETCH_DNS_SERVERS`. */
  readonly address: string
  /** Queried names. */
  readonly asked: string[]
  stop(): Promise<void>
}

const [A, AAAA] = [1, 28]

/** A DNS server on loopback with IPv4 addresses of names; silent about names that `isSilent` finds, other names do not exist. */
export async function startDnsServer(
  addresses: Readonly<Record<string, string>>,
  { isSilent = () => false }: { isSilent?: (name: string) => boolean } = {},
): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { address, port }) => {
    const { name, type, question } = readQuestion(query)
    asked.push(name)
    if (isSilent(name)) return
    const found = addresses[name]
    const isKnown = found !== undefined
    const answer = isKnown && type === A && isIPv4(found) ? recordOf(found) : Buffer.alloc(0)
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answer.length > 0 ? 1 : 0, 6)
    if (type === A || type === AAAA) socket.send(Buffer.concat([header, question, answer]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function readQuestion(query: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]; length > 0; length = query[at]) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    question: query.subarray(12, at + 5),
  }
}

/** An A record of the name in the question, with a TTL of 0. */
function recordOf(address: string): Buffer {
  const fixed = Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 0, 0, 4])
  return Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))])
}
