import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ports } from '../stack/ports.ts'
import { inspectProcess, killGroup } from '../stack/processes.ts'
import type { Reaper } from '../stack/reaper.ts'
import { asIs, pinned } from './pinning.ts'

/** A measured program. */
export interface Program {
  readonly url: string
  /** URL of its probes and metrics. */
  readonly probeUrl: string
  readonly pid: number
  /** Stops the program; resolves immediately if it has exited. */
  stop(): Promise<void>
}

/** Starts a program of the repository on two free ports and resolves when it is ready. */
export async function startProgram(options: {
  main: string
  /** Whether to run on the CPU that all such programs share. */
  pinned: boolean
  env: NodeJS.ProcessEnv
  cwd: string
  logPath: string
  reaper: Reaper
  ports: Ports
}): Promise<Program> {
  const { main, env, cwd, logPath, reaper, ports } = options
  const [port, probePort] = [await ports.takeFree(), await ports.takeFree()]
  await Promise.all([port.release(), probePort.release()])
  const [url, probeUrl] = [port, probePort].map((taken) => `http://127.0.0.1:${taken.port}`)
  const { command, args } = (options.pinned ? pinned : asIs)(process.execPath, [main])
  const log = openSync(logPath, 'w')
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PUBLIC_URL: url, ...env, PORT: String(port.port), PROBE_PORT: String(probePort.port) },
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const startedAt = inspectProcess(pid)?.startedAt ?? ''
  reaper.add({ name: main, pid, startedAt, signal: 'SIGTERM', graceSeconds: 20, stage: 1 })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    killGroup(pid)
    reaper.drop(pid)
  }
  try {
    await Promise.race([
      untilReady(`${probeUrl}/readyz`),
      ended.then(() => Promise.reject(new Error(`${main} ended; see ${logPath}`))),
    ])
  } catch (error) {
    await stop()
    throw error
  }
  return { url, probeUrl, pid, stop }
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await sleep(50)
  }
  throw new Error(`${url} does not respond`)
}
