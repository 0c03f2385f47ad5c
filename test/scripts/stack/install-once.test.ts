import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installNpmPackages } from '../../../scripts/stack/install-once.ts'

describe('packages that are installed once', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-packages-'))
    process.env.XDG_CACHE_HOME = join(folder, 'cache')
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('are shared by all clones of a user, and installed again for another lock file', async () => {
    const installed = await installNpmPackages('parts', await writeClone('one', '1.0.0'))
    expect(installed).toMatch(join(folder, 'cache/drape/packages/parts-'))
    const copied = join(installed, 'package-lock.json')
    await rm(copied)
    expect(await installNpmPackages('parts', await writeClone('two', '1.0.0'))).toBe(installed)
    expect(existsSync(copied)).toBe(false)
    const other = await installNpmPackages('parts', await writeClone('two', '2.0.0'))
    expect(existsSync(join(other, 'package-lock.json'))).toBe(true)
  })

  /** Without dependencies, so no registry is asked. */
  async function writeClone(name: string, version: string): Promise<string> {
    const clone = join(folder, name)
    const itself = { name: 'parts', version }
    await mkdir(clone, { recursive: true })
    await writeFile(join(clone, 'package.json'), JSON.stringify(itself))
    const lock = { ...itself, lockfileVersion: 3, packages: { '': itself } }
    await writeFile(join(clone, 'package-lock.json'), JSON.stringify(lock))
    return clone
  }
})
