import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { normaliseImage } from '../../api/shared/image/image.ts'
import { createHostLookup } from '../../api/shared/network/host-lookup.ts'
import { percentile } from './percentile.ts'

// Resolves host names as the API does for callers' URLs, while idle or while processing photos. Responds with ms, without those in which
// the thread was ready and the system ran other threads: two photos in work fill two CPUs, and its scheduler then takes 3 to 10 ms.

const { PORT, PROBE_PORT, PHOTO = '' } = process.env

// A name server that knows no name: the flags of an answer, on the question.
const server = createSocket('udp4').bind(0, '127.0.0.1')
server.on('message', (message, { port, address }) => {
  message.writeUInt16BE(0x8180, 2)
  server.send(message, port, address)
})
await once(server, 'listening')
const lookup = createHostLookup({ servers: [`127.0.0.1:${server.address().port}`], resolvConfPath: '/dev/null' })

async function measureLookups({
  photos,
  seconds,
}: {
  photos: number
  seconds: number
}): Promise<{ p50: number; p99: number }> {
  const photo = readFileSync(PHOTO)
  const until = performance.now() + seconds * 1000
  const work = async () => {
    while (performance.now() < until) await normaliseImage(photo)
  }
  const working = Promise.all(Array.from({ length: photos }, work))
  const times: number[] = []
  while (performance.now() < until) {
    const started = performance.now() - waitedMs()
    await lookup('cdn.example', AbortSignal.timeout(10_000))
    times.push(performance.now() - waitedMs() - started)
    await sleep(2)
  }
  await working
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

/** ms for which the first thread of this process has waited for a CPU so far. */
function waitedMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
}

createServer(async ({ url = '' }, response) => {
  const { searchParams } = new URL(url, 'http://names')
  const [photos, seconds] = ['photos', 'seconds'].map((name) => Number(searchParams.get(name)))
  response.end(JSON.stringify(await measureLookups({ photos, seconds })))
}).listen(Number(PORT))
createServer((_, response) => response.end('ready')).listen(Number(PROBE_PORT))
process.on('SIGTERM', () => process.exit(0))
