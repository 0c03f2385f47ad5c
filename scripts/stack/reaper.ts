import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Stoppable } from './processes.ts'

export type Message = { readonly add: Stoppable } | { readonly drop: number } | { readonly remove: string }

/** A second process that ends what this one started, even when this one is killed. */
export interface Reaper {
  add(process: Stoppable): void
  /** The process has ended. */
  drop(pid: number): void
  /** The folder is deleted at the end, after the processes have ended. */
  remove(folder: string): void
  /** Ends what is left and resolves when it has ended. */
  close(): Promise<void>
}

/**
 * Starts the reaper. It holds the lock `lockPath` as long as it has something to end. `listPath` is a file that always names
 * the processes, for a next start after both have been killed.
 */
export async function startReaper({ lockPath, listPath }: { lockPath?: string; listPath?: string }): Promise<Reaper> {
  const processes = new Map<number, Stoppable>()
  const folders = new Set<string>()
  let closing = false
  let child = spawnReaper(lockPath)
  await untilReady(child)

  function send(message: Message): void {
    child.stdin?.write(`${JSON.stringify(message)}\n`)
  }
  function saveList(): void {
    if (listPath === undefined) return
    // Renamed into place: a reader never finds half a list, even when this process is killed here.
    writeFileSync(`${listPath}.new`, JSON.stringify([...processes.values()]))
    renameSync(`${listPath}.new`, listPath)
  }
  async function replaceWhenLost(): Promise<void> {
    await once(child, 'exit')
    if (closing) return
    child = spawnReaper(lockPath)
    // Before it is ready: what waits in the pipe is read even when this process is gone by then.
    for (const add of processes.values()) send({ add })
    for (const remove of folders) send({ remove })
    await untilReady(child)
    await replaceWhenLost()
  }
  const replacing = replaceWhenLost()

  return {
    add: (process) => {
      processes.set(process.pid, process)
      send({ add: process })
      saveList()
    },
    drop: (pid) => {
      processes.delete(pid)
      send({ drop: pid })
      saveList()
    },
    remove: (folder) => {
      folders.add(folder)
      send({ remove: folder })
    },
    close: async () => {
      closing = true
      child.stdin?.end()
      await replacing
    },
  }
}

function spawnReaper(lockPath: string | undefined): ChildProcess {
  const program = fileURLToPath(new URL('./reaper-process.ts', import.meta.url))
  // A session of its own: Ctrl-C in the terminal must not reach it.
  const child = spawn(process.execPath, [program, ...(lockPath === undefined ? [] : [lockPath])], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // A write to a reaper that was just killed; its replacement gets everything again.
  child.stdin.on('error', () => {})
  return child
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('The process that cleans up has no output')
  const ready = await Promise.race([once(child.stdout, 'data').then(() => true), once(child, 'exit').then(() => false)])
  if (!ready) throw new Error('The process that cleans up could not be started')
}
