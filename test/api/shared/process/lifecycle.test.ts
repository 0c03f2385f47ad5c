import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../../..')
const PROGRAM = `
import { createLifecycle } from './api/shared/process/lifecycle.ts'
import { createLog } from './api/shared/telemetry/log.ts'
const log = createLog({ process: 'test', level: 'info' })
const lifecycle = createLifecycle({ log, graceSeconds: 60 })
lifecycle.onStop('timer', () => clearInterval(timer))
const timer = setInterval(() => {}, 1000)
process.stderr.write('ready')
`

describe('a process that receives SIGTERM', () => {
  const started: ChildProcessWithoutNullStreams[] = []
  afterEach(() => {
    for (const program of started.splice(0)) program.kill('SIGKILL')
  })

  function start(more = '') {
    const code = PROGRAM + more
    const program = spawn(process.execPath, ['--input-type=module-typescript', '--eval', code], { cwd: ROOT })
    started.push(program)
    return program
  }

  it('has flushed its log when it exits', async () => {
    const program = start()
    let output = ''
    program.stdout.on('data', (chunk) => {
      output += chunk
    })
    await once(program.stderr, 'data')
    program.kill('SIGTERM')
    expect(await once(program, 'close')).toEqual([0, null])
    const messages = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).msg)
    expect(messages).toEqual(['stopping', 'stopped'])
  })

  it('exits when its log pipe is closed', async () => {
    const program = start()
    await once(program.stderr, 'data')
    program.stdout.destroy()
    program.kill('SIGTERM')
    expect(await once(program, 'close')).toEqual([0, null])
  })

  it('exits when its log pipe is full and not read', async () => {
    const program = start(`process.on('SIGTERM', () => log.info('x'.repeat(1_000_000)))`)
    await once(program.stderr, 'data')
    program.kill('SIGTERM')
    const [code, signal] = await once(program, 'exit')
    expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' })
  })
})
