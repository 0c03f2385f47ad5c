import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Stoppable } from './processes.ts'

export type Message = { readonly add: Stoppable } | { readonly drop: number } | { readonly remove: string }

/** A second process that stops the children of this one, even if this one is killed. */
export interface Reaper {
  add(process: Stoppable): void
  /** Reports that the process has exited. */
  drop(pid: number): void
  /** The folder is deleted at the end, after the processes have exited. */
  remove(folder: string): void
  /** Stops the remaining processes and resolves when they have exited. */
  close(): Promise<void>
}

/**
 * Starts the reaper, which holds the lock `lockPath` while it has processes to stop. `listPath` is a file that always lists
 * the processes, for the next start if both were killed.
 */
export async function startReaper({ lockPath, listPath }: { lockPath?: string; listPath?: string }): Promise<Reaper> {
  const processes = new Map<number, Stoppable>()
  const child = spawnReaper(lockPath)
  await untilReady(child)

  function send(message: Message): void {
    child.stdin?.write(`${JSON.stringify(message)}\n`)
  }
  function saveList(): void {
    if (listPath === undefined) return
    // Written and renamed: a reader never sees a partial list, even if this process is killed here.
    writeFileSync(`${listPath}.new`, JSON.stringify([...processes.values()]))
    renameSync(`${listPath}.new`, listPath)
  }
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
    remove: (folder) => send({ remove: folder }),
    close: async () => {
      child.stdin?.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

function spawnReaper(lockPath: string | undefined): ChildProcess {
  const program = fileURLToPath(new URL('./reaper-process.ts', import.meta.url))
  // A separate session, so that Ctrl-C in the terminal does not reach it.
  const child = spawn(process.execPath, [program, ...(lockPath === undefined ? [] : [lockPath])], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // A write to a reaper that was killed.
  child.stdin.on('error', () => {})
  return child
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('The reaper process has no output')
  const ready = await Promise.race([once(child.stdout, 'data').then(() => true), once(child, 'exit').then(() => false)])
  if (!ready) throw new Error('The reaper process failed to start')
}
