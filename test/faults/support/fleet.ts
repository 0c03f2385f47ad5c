import { setTimeout as sleep } from 'node:timers/promises'
import type { TestProgram } from '../../support/process.ts'

/** Several processes of one program. */
export interface Fleet {
  /** Running processes. */
  readonly members: readonly TestProgram[]
  /** Kills one with SIGKILL and starts a replacement. Resolves when the first has ended. */
  kill(member: TestProgram): Promise<void>
  /** Stops one, waits for its exit, and starts another in its place. Returns the exit code. */
  terminate(member: TestProgram): Promise<number | null>
  /** Resolves when the configured number runs. */
  untilHealthy(): Promise<void>
  stop(): Promise<void>
  /** Ends the fleet without its processes, and returns them. */
  release(): Promise<readonly TestProgram[]>
}

/** A process that exits by itself is also replaced. The fleet consists of `running` processes and, up to its size, of new ones. */
export async function startFleet(
  launch: () => Promise<TestProgram>,
  size: number,
  running: readonly TestProgram[] = [],
): Promise<Fleet> {
  const members: TestProgram[] = []
  const launches = new Set<Promise<void>>()
  let stopped = false

  const remove = (member: TestProgram) => {
    const place = members.indexOf(member)
    if (place >= 0) members.splice(place, 1)
    return place >= 0
  }
  const add = () => {
    const launched = begin().finally(() => launches.delete(launched))
    launches.add(launched)
    return launched
  }
  async function begin(): Promise<void> {
    if (stopped) return
    const member = await launch()
    if (stopped) await member.end('SIGKILL')
    else join(member)
  }
  function join(member: TestProgram): void {
    members.push(member)
    member.ended.then(() => {
      if (remove(member)) add().catch(() => {})
    })
  }
  for (const member of running) join(member)
  await Promise.all(Array.from({ length: size - running.length }, add))

  return {
    members,
    kill: async (member) => {
      if (!remove(member)) return
      await member.end('SIGKILL')
      add().catch(() => {})
    },
    terminate: async (member) => {
      if (!remove(member)) return null
      add().catch(() => {})
      return member.end('SIGTERM')
    },
    untilHealthy: async () => {
      while (members.length < size) await Promise.race([...launches, sleep(50)])
    },
    stop: async () => {
      stopped = true
      await Promise.allSettled(launches)
      await Promise.all(members.splice(0).map((member) => member.end('SIGKILL')))
    },
    release: async () => {
      await Promise.allSettled(launches)
      stopped = true
      return members.splice(0)
    },
  }
}
