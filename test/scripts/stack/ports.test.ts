import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { createPorts, type Ports, reserveFreePort } from '../../../scripts/stack/ports.ts'

const execute = promisify(execFile)

describe('the ports of a stack', () => {
  const stacks: Ports[] = []
  const createStack = () => {
    const ports = createPorts()
    stacks.push(ports)
    return ports
  }
  afterEach(() => {
    for (const ports of stacks.splice(0)) ports.giveBack()
  })

  it('are reserved before a program listens on them', async () => {
    const free = await freePort()
    const reserved = await createStack().take(free)
    await reserved.release()
    await expect(createStack().take(free)).rejects.toThrow(`Port ${free} is in use by another process`)
    const other = await createStack().takeFree(free)
    await other.release()
    expect(other.port).not.toBe(free)
  })

  it('are available to other stacks once given back', async () => {
    const free = await freePort()
    const ports = createStack()
    await (await ports.take(free)).release()
    ports.giveBack()
    const reserved = await createStack().take(free)
    await reserved.release()
    expect(reserved.port).toBe(free)
  })

  it('are not chosen twice by concurrent processes', async () => {
    const chosen = await Promise.all(Array.from({ length: 4 }, () => choosePorts(100)))
    expect(new Set(chosen.flat()).size).toBe(400)
  })

  it('exclude ports on which another program listens, on any address', async () => {
    for (const host of ['127.0.0.1', undefined]) {
      const free = await freePort()
      const stranger = createServer()
      await new Promise<void>((listening) => stranger.listen(free, host, listening))
      await expect(createStack().take(free)).rejects.toThrow('in use')
      stranger.close()
    }
  })

  it('are released while a client of the program waits for it', async () => {
    const reserved = await createStack().takeFree()
    const client = connect(reserved.port, '127.0.0.1').on('error', () => {})
    await once(client, 'connect')
    await reserved.release()
    client.destroy()
  })

  it('can be bound once released', async () => {
    const reserved = await createStack().takeFree()
    const server = createServer()
    await reserved.release()
    await new Promise<void>((listening) => server.listen(reserved.port, listening))
    server.close()
  })
})

/** The ports that a process of its own reserves and releases. */
async function choosePorts(count: number): Promise<number[]> {
  const choose = `
    const { reserveFreePort } = await import('./scripts/stack/ports.ts')
    for (let i = 0; i < ${count}; i++) {
      const { port, release } = await reserveFreePort()
      await release()
      console.log(port)
    }`
  const cwd = resolve(import.meta.dirname, '../../..')
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', choose], { cwd })
  return stdout.trim().split('\n').map(Number)
}

async function freePort(): Promise<number> {
  const { port, release } = await reserveFreePort()
  await release()
  return port
}
