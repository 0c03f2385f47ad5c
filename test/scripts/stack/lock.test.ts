import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock, waitForLock } from '../../../scripts/stack/lock.ts'
import { spawnProcess } from '../../support/process.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

describe('a lock', () => {
  it('has one holder and names that holder to other callers', async () => {
    const path = await lockPath()
    const lock = acquireLock(path)
    expect(acquireLock(path)).toEqual({ heldBy: `process ${process.pid}` })
    if ('release' in lock) lock.release()
    expect(acquireLock(path)).toHaveProperty('release')
  })

  it('is released when its holder is killed', async () => {
    const path = await lockPath()
    const holder = await spawnProcess({
      command: process.execPath,
      args: ['--input-type=module', '-e', holderScript(path)],
      cwd: process.cwd(),
      env: process.env,
    })
    await until(() => holder.output().includes('held'))
    expect(acquireLock(path)).toEqual({ heldBy: `process ${holder.pid}` })

    let waited = false
    const waiting = waitForLock(path, () => {
      waited = true
    })
    await holder.end('SIGKILL')
    await waiting
    expect(waited).toBe(true)
    expect(acquireLock(path)).toHaveProperty('release')
  })
})

async function lockPath(): Promise<string> {
  return join((await requestService('folder', null)).path, 'a.lock')
}

function holderScript(path: string): string {
  const module = new URL('../../../scripts/stack/lock.ts', import.meta.url).href
  return `const { acquireLock } = await import('${module}')
    const lock = acquireLock('${path}')
    console.log('release' in lock ? 'held' : 'refused')
    setInterval(() => lock, 1000)`
}
