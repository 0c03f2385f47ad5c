import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from './part.ts'
import type { Ports, ReservedPort } from './ports.ts'
import type { Supervisor } from './supervisor.ts'

/** One of the programs of the repository, and its number of replicas. */
export interface Program {
  readonly name: string
  /** Path of its main file in the repository. */
  readonly main: string
  readonly replicas: number
  /** Per port variable: the given number, or the preferred number if it is free. */
  readonly ports: Readonly<Record<string, { readonly given: number | undefined; readonly preferred: number }>>
  readonly graceSeconds: number
}

/** One process of a program. */
export interface Replica {
  /** `api`, `api-2`, … */
  readonly name: string
  readonly program: Program
  /** By variable; reserved until the replica starts. */
  readonly ports: Readonly<Record<string, ReservedPort>>
}

/** Allocates ports: the first replica gets the given ones, the others the following numbers if they are free. */
export async function reserveReplicas(program: Program, ports: Ports): Promise<Replica[]> {
  const replicas: Replica[] = []
  for (let index = 0; index < program.replicas; index++) {
    const name = index === 0 ? program.name : `${program.name}-${index + 1}`
    replicas.push({ name, program, ports: await reservePorts({ program, index, ports }) })
  }
  return replicas
}

/** Starts the replica with its ports in its environment. */
export async function startReplica(
  { name, program, ports }: Replica,
  { root, env, supervisor }: { root: string; env: NodeJS.ProcessEnv; supervisor: Supervisor },
): Promise<void> {
  const numbers = Object.fromEntries(Object.entries(ports).map(([variable, { port }]) => [variable, String(port)]))
  await Promise.all(Object.values(ports).map((reserved) => reserved.release()))
  const part: Part = {
    name,
    command: process.execPath,
    args: [program.main],
    cwd: root,
    env: { ...env, ...numbers },
    signal: 'SIGTERM',
    graceSeconds: program.graceSeconds,
    stage: 1,
  }
  await supervisor.start(part)
}

/** More than `START_SECONDS` of a worker: on a busy machine models take minutes to open. */
const READY_MS = 300_000

const REPORT_MS = 10_000

/** Resolves when `/readyz` returns 200; reports the last response every 10 s. Throws after 5 minutes. */
export async function waitUntilReady(
  { name, ports }: Replica,
  { say, signal }: { say: (text: string) => void; signal: AbortSignal },
): Promise<void> {
  const startedAt = Date.now()
  let last = 'no answer yet'
  for (let reports = 1; Date.now() - startedAt < READY_MS; ) {
    if (Date.now() - startedAt > reports * REPORT_MS) say(`Waiting for ${name}, ${reports++ * 10} s so far: ${last}`)
    try {
      const answer = await fetch(`http://127.0.0.1:${ports.PROBE_PORT.port}/readyz`, {
        signal: AbortSignal.timeout(2000),
      })
      last = await answer.text()
      if (answer.ok) return
    } catch {
      // The process does not listen yet.
    }
    await sleep(50, undefined, { signal })
  }
  throw new Error(`${name} is not ready: ${last}`)
}

async function reservePorts(options: {
  program: Program
  index: number
  ports: Ports
}): Promise<Record<string, ReservedPort>> {
  const { program, index, ports } = options
  const reserved: Record<string, ReservedPort> = {}
  for (const [name, { given, preferred }] of Object.entries(program.ports)) {
    if (index === 0 && given !== undefined) reserved[name] = await ports.take(given)
    else reserved[name] = await ports.takeFree((given ?? preferred) + index)
  }
  return reserved
}
