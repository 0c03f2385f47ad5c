import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createPorts, type Ports, reserveFreePort } from '../../../scripts/stack/ports.ts'

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

  it('belong to it from the choice on, also before anything listens there', async () => {
    const free = await freePort()
    const reserved = await createStack().take(free)
    await reserved.release()
    await expect(createStack().take(free)).rejects.toThrow(`Port ${free} is in use by another process`)
    const other = await createStack().takeFree(free)
    await other.release()
    expect(other.port).not.toBe(free)
  })

  it('are free for others when they are given back', async () => {
    const free = await freePort()
    const ports = createStack()
    await (await ports.take(free)).release()
    ports.giveBack()
    const reserved = await createStack().take(free)
    await reserved.release()
    expect(reserved.port).toBe(free)
  })

  it('are none on which a stranger listens, on whatever address', async () => {
    for (const host of ['127.0.0.1', undefined]) {
      const free = await freePort()
      const stranger = createServer()
      await new Promise<void>((resolve) => stranger.listen(free, host, resolve))
      await expect(createStack().take(free)).rejects.toThrow('in use')
      stranger.close()
    }
  })

  it('can be listened on once they are released', async () => {
    const reserved = await createStack().takeFree()
    const server = createServer()
    await reserved.release()
    await new Promise<void>((resolve) => server.listen(reserved.port, resolve))
    server.close()
  })
})

async function freePort(): Promise<number> {
  const { port, release } = await reserveFreePort()
  await release()
  return port
}
