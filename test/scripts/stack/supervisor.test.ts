import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Part } from '../../../scripts/stack/part.ts'
import { inspectProcess, type Stoppable } from '../../../scripts/stack/processes.ts'
import { type Reaper, startReaper } from '../../../scripts/stack/reaper.ts'
import { createSupervisor, type Supervisor } from '../../../scripts/stack/supervisor.ts'
import { spawnProcess } from '../../support/process.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

describe('a supervisor', () => {
  let folder: string
  let reaper: Reaper
  let supervisor: Supervisor
  let messages: string[]

  beforeEach(async () => {
    folder = (await requestService('folder', null)).path
    messages = []
    reaper = await startReaper({})
    supervisor = createSupervisor({ reaper, logFolder: folder, say: (text) => messages.push(text) })
  })
  afterEach(async () => {
    await supervisor.stop()
    await reaper.close()
  })

  it('restarts a killed process', async () => {
    await supervisor.start(part('sleeper', 'setInterval(() => {}, 1000)'))
    supervisor.steady()
    const first = supervisor.pid('sleeper')
    process.kill(first, 'SIGKILL')
    await until(() => ![0, first].includes(supervisor.pid('sleeper')))
    expect(inspectProcess(supervisor.pid('sleeper'))).toBeDefined()
    expect(messages).toEqual([expect.stringContaining('sleeper was terminated by SIGKILL; restarting in 0.25 s')])
  })

  it('gives up on a process that cannot start, and shows its output', async () => {
    await supervisor.start(part('broken', 'console.error("no disk"); process.exit(3)'))
    await expect(supervisor.broken).rejects.toThrow('broken exited with code 3\nno disk\nno disk\nno disk')
  })

  it('names the missing program', async () => {
    await expect(supervisor.start({ ...part('missing', ''), command: '/nowhere/program' })).rejects.toThrow('/nowhere')
  })

  it('stops processes of a higher stage before it signals those of a lower stage', async () => {
    const record = join(folder, 'record')
    const slow = (name: string) =>
      `const { appendFileSync } = require('node:fs')
       process.on('SIGTERM', () => {
         appendFileSync('${record}', '${name} told\\n')
         setTimeout(() => { appendFileSync('${record}', '${name} ended\\n'); process.exit() }, 200)
       })
       setInterval(() => {}, 1000)
       appendFileSync('${record}-ready', '.')`
    await supervisor.start({ ...part('store', slow('store')), stage: 0 })
    await supervisor.start({ ...part('program', slow('program')), stage: 1 })
    await until(async () => (await readFile(`${record}-ready`, 'utf8').catch(() => '')) === '..')
    await supervisor.stop()
    expect(await readFile(record, 'utf8')).toBe('program told\nprogram ended\nstore told\nstore ended\n')
  })

  it('kills a process that does not stop in its grace period, with its children', async () => {
    const childPid = join(folder, 'child')
    const deaf = `process.on('SIGTERM', () => {})
      setInterval(() => {}, 1000)
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
      require('node:fs').writeFileSync('${childPid}', String(child.pid))`
    await supervisor.start({ ...part('deaf', deaf), graceSeconds: 0.3 })
    const child = Number(await until(() => readFile(childPid, 'utf8').catch(() => '')))
    const pid = supervisor.pid('deaf')
    await supervisor.stop()
    expect(inspectProcess(pid)).toBeUndefined()
    await until(() => inspectProcess(child) === undefined)
  })

  it('replaces its process list atomically', async () => {
    const listPath = join(folder, 'list')
    const lists = await startReaper({ listPath })
    // Pids that no process can have.
    const entry = { startedAt: '', signal: 'SIGTERM', graceSeconds: 1, stage: 0 } as const
    lists.add({ ...entry, pid: 2 ** 30, name: 'first' })
    const reader = await open(listPath)
    lists.add({ ...entry, pid: 2 ** 30 + 1, name: 'second' })
    const names = (text: string) => JSON.parse(text).map(({ name }: Stoppable) => name)
    expect(names(await reader.readFile('utf8'))).toEqual(['first'])
    expect(names(await readFile(listPath, 'utf8'))).toEqual(['first', 'second'])
    await reader.close()
    await lists.close()
  })

  it('leaves no process when it is killed', async () => {
    const { program, pids } = await startSupervisedProgram(folder)
    expect(pids.map((pid) => inspectProcess(pid) !== undefined)).toEqual([true, true, true])
    await program.end('SIGKILL')
    await until(() => pids.every((pid) => inspectProcess(pid) === undefined))
  })

  it('leaves no process when it is killed before its reaper is ready', async () => {
    const sleeper = await spawnProcess({ ...part('sleeper', 'setInterval(() => {}, 1000)') })
    const startedAt = inspectProcess(sleeper.pid)?.startedAt ?? ''
    const add: Stoppable = {
      name: 'sleeper',
      pid: sleeper.pid,
      startedAt,
      signal: 'SIGTERM',
      graceSeconds: 10,
      stage: 0,
    }
    const program = resolve(import.meta.dirname, '../../../scripts/stack/reaper-process.ts')
    // Closing both pipes at once is what a killed parent leaves behind, while Node starts the reaper.
    const orphan = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'ignore'] })
    orphan.stdout.destroy()
    orphan.stdin.end(`${JSON.stringify({ add })}\n`)
    expect(await once(orphan, 'exit')).toEqual([0, null])
    expect(inspectProcess(sleeper.pid)).toBeUndefined()
  })

  function part(name: string, script: string): Part {
    return {
      name,
      command: process.execPath,
      args: ['-e', script],
      cwd: folder,
      env: process.env,
      signal: 'SIGTERM',
      graceSeconds: 10,
      stage: 0,
    }
  }
})

/** A process of its own that supervises two parts; the pids are those of its reaper and of the parts. */
async function startSupervisedProgram(folder: string) {
  const stack = resolve(import.meta.dirname, '../../../scripts/stack')
  const script = `
    const { startReaper } = await import('${stack}/reaper.ts')
    const { createSupervisor } = await import('${stack}/supervisor.ts')
    const reaper = await startReaper({ lockPath: '${folder}/reaper.lock', listPath: '${folder}/list' })
    const supervisor = createSupervisor({ reaper, logFolder: '${folder}', say: () => {} })
    for (const stage of [0, 1]) {
      await supervisor.start({
        name: 'part-' + stage, command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], cwd: '${folder}',
        env: process.env, signal: 'SIGTERM', graceSeconds: 10, stage })
    }
    setInterval(() => {}, 1000)`
  const program = await spawnProcess({
    command: process.execPath,
    args: ['--input-type=module', '-e', script],
    cwd: folder,
    env: process.env,
  })
  const pids = await until(async () => {
    const found = await readPids(folder)
    return found.length === 3 && found
  })
  return { program, pids }
}

async function readPids(folder: string): Promise<number[]> {
  const [reaper, list] = await Promise.all(
    ['reaper.lock.pid', 'list'].map((name) => readFile(join(folder, name), 'utf8').catch(() => '')),
  )
  if (reaper === '' || list === '') return []
  return [Number(reaper), ...(JSON.parse(list) as { pid: number }[]).map(({ pid }) => pid)]
}
