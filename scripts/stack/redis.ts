import { mkdir } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCommand, run } from './commands.ts'
import type { Part } from './part.ts'

const PROGRAMS = ['redis-server', 'valkey-server']

/** The path of a Redis server; installs Redis with the system's package manager if it is missing. */
export async function findRedis(say: (text: string) => void): Promise<string> {
  const found = findCommand(PROGRAMS)
  if (found !== undefined) return found
  say('Installing Redis …')
  const cause = await run(join(import.meta.dirname, 'install-redis'), []).then(() => null, Error)
  const installed = findCommand(PROGRAMS)
  if (installed !== undefined) return installed
  throw new Error('Redis is missing and could not be installed: install redis-server, or set REDIS_URL', { cause })
}

/** Prepares a server on 127.0.0.1 that stores its data in `dataFolder`. The queue needs `noeviction`: no job may be dropped silently. */
export async function prepareRedis(options: {
  program: string
  dataFolder: string
  port: number
  durable?: boolean
}): Promise<{ part: Part; url: string }> {
  const { program, dataFolder, port, durable = true } = options
  await mkdir(dataFolder, { recursive: true })
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: dataFolder,
    databases: '1024',
    'maxmemory-policy': 'noeviction',
    save: '',
    appendonly: durable ? 'yes' : 'no',
  }
  const part: Part = {
    name: 'redis',
    command: program,
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    cwd: dataFolder,
    env: process.env,
    signal: 'SIGTERM',
    graceSeconds: 10,
    stage: 0,
  }
  return { part, url: `redis://127.0.0.1:${port}` }
}

/** Resolves when the server has loaded its data and responds. */
export async function waitForRedis(url: string, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(url)
  while (!(await answersPing(hostname, Number(port)))) await sleep(50, undefined, { signal })
}

// PING as an inline command; while data is loading the response is an error.
function answersPing(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: 1000 })
    const finish = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('connect', () => socket.write('PING\r\n'))
    socket.on('data', (data) => finish(data.toString().startsWith('+PONG')))
    socket.on('error', () => finish(false))
    socket.on('timeout', () => finish(false))
  })
}
