import { join } from 'node:path'
import type { Part } from '../../scripts/stack/part.ts'
import { spawnProcess, type TestProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { becomesReady, type ControlPlane, startControlPlane } from './control-plane.ts'
import { findPrograms } from './programs.ts'

/** A control plane of one test file, for tests that stop its API server. */
export interface OwnControlPlane extends ControlPlane {
  /** Ends the API server as a crash would. */
  killApiServer(): Promise<void>
  /** Starts it again on the same port and resolves when it answers. */
  startApiServer(): Promise<void>
  stop(): Promise<void>
}

/** Starts one. To be called where the shared one is known to be possible. */
export async function startOwnControlPlane(): Promise<OwnControlPlane> {
  const programs = await findPrograms(process.env, () => {})
  if ('unavailable' in programs) throw new Error(programs.unavailable)
  const { path } = await requestService('folder', null)
  const running = new Map<string, TestProcess>()
  const start = async (part: Part) => {
    running.set(part.name, await spawnProcess(part))
  }
  const { controlPlane, apiServer } = await startControlPlane({ folder: join(path, 'control-plane'), programs, start })
  return {
    ...controlPlane,
    killApiServer: async () => {
      await running.get(apiServer.name)?.end('SIGKILL')
    },
    startApiServer: async () => {
      await start(apiServer)
      await becomesReady(controlPlane)
    },
    stop: async () => {
      await Promise.all([...running.values()].map((process) => process.end('SIGKILL')))
    },
  }
}
