import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../api/main.ts'
import { readImageVariables } from '../../scripts/stack/image-variables.ts'
import type { Part } from '../../scripts/stack/part.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { inspectProcess, killGroup } from '../../scripts/stack/processes.ts'
import { startWorker } from '../../worker/main.ts'
import { startInference } from './inference-processes.ts'
import { asProcess } from './process-roles.ts'
import { requestService } from './request-service.ts'
import { until } from './until.ts'

/** A process that a test started and can kill; it ends with the tests at the latest. */
export interface TestProcess {
  readonly pid: number
  /** Its output so far. */
  output(): string
  /** Sends the signal and resolves when the process and its children have ended, with its exit code; at once if it has. */
  end(signal?: NodeJS.Signals): Promise<number | null>
  /** Resolves with the exit code when the process has ended by itself; null after a signal. */
  readonly ended: Promise<number | null>
}

/** One of the programs of the repository under test. */
export interface TestProgram extends TestProcess {
  /** URL of its probes and metrics. */
  readonly probeUrl: string
  /** URL of its public port. */
  readonly url: string
}

const ROOT = resolve(import.meta.dirname, '../..')

/** Variables that only the start of a process can set. */
const OF_PROCESS = /^(NODE_OPTIONS|TZ|TMPDIR|LD_PRELOAD|HTTPS?_PROXY|NO_PROXY|(AWS|FAKETIME|OTEL|PG)\w*)$/

/**
 * Starts `api`, `worker` or `controller` with these variables on free ports and resolves when it is ready. Throws with its output if it
 * ends. API and worker run inside the process of the test, which has their modules already, unless they need a process of their own: because
 * of their variables, or because the test kills them (`separate`).
 */
export async function startProgram(
  name: 'api' | 'worker' | 'controller',
  env: NodeJS.ProcessEnv,
  { separate = false } = {},
): Promise<TestProgram> {
  const [port, probePort] = [await reserveFreePort(), await reserveFreePort()]
  await Promise.all([port.release(), probePort.release()])
  const url = `http://127.0.0.1:${port.port}`
  const probeUrl = `http://127.0.0.1:${probePort.port}`
  const variables = {
    NODE_ENV: 'development',
    // The loops that begin at the start open all of them; a session costs 15 ms of processor time, on both sides together.
    DATABASE_POOL: '4',
    PUBLIC_URL: url,
    ...env,
    // With minimal rights, as recommended for installations.
    DATABASE_URL: env.DATABASE_URL && (name === 'worker' ? undefined : asProcess(env.DATABASE_URL, name)),
    REDIS_URL: env.REDIS_URL?.startsWith('redis://default:') ? asProcess(env.REDIS_URL, name) : env.REDIS_URL,
    PORT: String(port.port),
    PROBE_PORT: String(probePort.port),
  }
  const isInside = !separate && !Object.keys(env).some((key) => OF_PROCESS.test(key))
  const started = isInside && name !== 'controller' ? startInside(name, variables) : await startOutside(name, variables)
  await untilReady(probeUrl, started.ended).catch((error) => {
    throw new Error(`${name} ${error.message}\n${started.output()}`)
  })
  return Object.assign(started, { url, probeUrl })
}

function startOutside(name: string, variables: NodeJS.ProcessEnv): Promise<TestProcess> {
  return spawnProcess({
    command: process.execPath,
    args: [`${name}/main.ts`],
    cwd: ROOT,
    env: { ...process.env, ...readImageVariables(name), ...variables },
  })
}

const PROGRAMS = { api: startApi, worker: startWorker }
let lastPid = 0

function startInside(name: keyof typeof PROGRAMS, env: NodeJS.ProcessEnv): TestProcess {
  let output = ''
  const { promise: ended, resolve: end } = Promise.withResolvers<number | null>()
  const host = Object.assign(new EventEmitter(), {
    env: { ...process.env, ...readImageVariables(name), ...env },
    // Part of the names of workers.
    pid: process.pid * 1000 + lastPid++,
    exit: end,
  })
  const lines = {
    write: (line: string) => {
      output += line
    },
  }
  PROGRAMS[name]({ host, lines, startInference }).catch((error) => {
    if (!host.emit('uncaughtException', error)) end(1)
  })
  return {
    get pid(): number {
      throw new Error('This program has no process of its own. Start it with `separate`.')
    },
    ended,
    output: () => output,
    end: async (signal = 'SIGTERM') => {
      if (signal !== 'SIGTERM' && signal !== 'SIGINT')
        throw new Error(`This program has no process of its own for ${signal}. Start it with \`separate\`.`)
      host.emit(signal)
      return ended
    },
  }
}

/** Longer than any process needs to finish its work and exit. */
const END_MS = 240_000

/** Starts a process in a group of its own. */
export async function spawnProcess(
  part: Pick<Part, 'command' | 'args' | 'cwd' | 'env' | 'uid' | 'gid'>,
): Promise<TestProcess> {
  const { command, args, cwd, env, uid, gid } = part
  const child = spawn(command, args, { cwd, env, uid, gid, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  await once(child, 'spawn')
  const pid = child.pid as number
  const startedAt = inspectProcess(pid)?.startedAt ?? ''
  await requestService('guard', { name: command, pid, startedAt, signal: 'SIGKILL', graceSeconds: 5, stage: 1 })
  return {
    pid,
    ended,
    output: () => output,
    end: async (signal = 'SIGTERM') => {
      child.kill(signal)
      const code = await Promise.race([ended, sleep(END_MS, 'late' as const, { ref: false })])
      killGroup(pid)
      if (code === 'late') throw new Error(`${command} ${args.join(' ')} has not ended after ${signal}:\n${output}`)
      return code
    },
  }
}

/** The entries of a program's log. */
// biome-ignore lint/suspicious/noExplicitAny: a log line has whatever its writer gave it
export function linesOf(output: string): Record<string, any>[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line))
}

/** Resolves when the process answers on this port that it is ready. Throws if it ends. */
async function untilReady(probeUrl: string, ended: Promise<number | null>): Promise<void> {
  const isReady = () =>
    fetch(`${probeUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  const isOver = ended.then((code) => {
    throw new Error(`ended with code ${code}`)
  })
  await until(() => Promise.race([isReady(), isOver]))
}
