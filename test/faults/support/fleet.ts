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
  whole(): Promise<void>
  stop(): Promise<void>
}

/** A process that exits by itself is also replaced. */
export async function startFleet(launch: () => Promise<TestProgram>, size: number): Promise<Fleet> {
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
    else members.push(member)
    member.ended.then(() => {
      if (remove(member)) add().catch(() => {})
    })
  }
  await Promise.all(Array.from({ length: size }, add))

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
    whole: async () => {
      while (members.length < size) await Promise.race([...launches, sleep(50)])
    },
    stop: async () => {
      stopped = true
      await Promise.allSettled(launches)
      await Promise.all(members.splice(0).map((member) => member.end('SIGKILL')))
    },
  }
}
