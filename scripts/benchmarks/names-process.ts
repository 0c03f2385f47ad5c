import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { normaliseImage } from '../../api/shared/image/image.ts'
import { percentile } from './percentile.ts'

// Resolves host names as the API does for callers' URLs, while idle or while processing photos. Responds with ms.

const { PORT, PROBE_PORT, PHOTO = '' } = process.env

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
    const started = performance.now()
    await lookup('localhost', { all: true })
    times.push(performance.now() - started)
    await sleep(2)
  }
  await working
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

createServer(async ({ url = '' }, response) => {
  const { searchParams } = new URL(url, 'http://names')
  const [photos, seconds] = ['photos', 'seconds'].map((name) => Number(searchParams.get(name)))
  response.end(JSON.stringify(await measureLookups({ photos, seconds })))
}).listen(Number(PORT))
createServer((_, response) => response.end('ready')).listen(Number(PROBE_PORT))
process.on('SIGTERM', () => process.exit(0))
