import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findCommand } from '../../../scripts/stack/commands.ts'
import { findRedis } from '../../../scripts/stack/redis.ts'
import { startOwnRedis } from '../../support/redis.ts'
import { requestService } from '../../support/request-service.ts'

describe('Redis', () => {
  it('never evicts jobs', async () => {
    const redis = await startOwnRedis()
    const { createClient } = await import('redis')
    const client = await createClient({ url: redis.url }).connect()
    expect(await client.configGet('maxmemory-policy')).toEqual({ 'maxmemory-policy': 'noeviction' })
    client.destroy()
    await redis.kill()
  })
})

describe('a machine without Redis', () => {
  const path = process.env.PATH
  let folder: string
  let messages: string[]

  // A machine whose only programs are a shell, the user's right to act as root, and a package manager.
  beforeEach(async () => {
    folder = join((await requestService('folder', null)).path, 'bin')
    messages = []
    await mkdir(folder)
    for (const name of ['sh', 'id', 'chmod', 'echo']) await symlink(findCommand([name]) ?? '', join(folder, name))
    await writeProgram('sudo', '[ "$1" = -n ] && shift && exec "$@"')
    process.env.PATH = folder
  })
  afterEach(() => {
    process.env.PATH = path
  })

  it('installs Redis with its package manager', async () => {
    const make = `echo >${folder}/redis-server; chmod +x ${folder}/redis-server`
    await writeProgram('apt-get', `echo "$@" >>${folder}/calls; case "$1" in install) ${make};; esac`)
    expect(await findRedis((text) => messages.push(text))).toBe(join(folder, 'redis-server'))
    expect(messages).toEqual(['Installing Redis …'])
    expect(await readFile(join(folder, 'calls'), 'utf8')).toMatch(/^update .*\ninstall .*redis-server\n$/)
  })

  it('gets instructions when the installation fails', async () => {
    await writeProgram('apt-get', 'echo "no space"; exit 100')
    const error = await findRedis(() => {}).catch((thrown) => thrown)
    expect(error.message).toContain('install redis-server, or set REDIS_URL')
    expect(String(error.cause)).toContain('no space')
  })

  it('gets instructions when there is no package manager', async () => {
    await expect(findRedis(() => {})).rejects.toThrow('install redis-server, or set REDIS_URL')
  })

  async function writeProgram(name: string, script: string): Promise<void> {
    await writeFile(join(folder, name), `#!${folder}/sh\n${script}\n`)
    await chmod(join(folder, name), 0o755)
  }
})
