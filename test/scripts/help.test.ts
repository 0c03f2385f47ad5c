import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../scripts/stack/session.ts'
import { requestService } from '../support/request-service.ts'

/** Parts of the others. */
const PARTS = ['help', 'setup']
const commands = globSync('scripts/*', { cwd: ROOT })
  .filter((path) => statSync(join(ROOT, path)).isFile() && !/\.(ts|py)$/.test(path))
  .map((path) => path.slice('scripts/'.length))
  .filter((name) => !PARTS.includes(name))
const { path: folder } = await requestService('folder', null)

// A clone without packages, and a machine without Node: what starts or installs something fails.
mkdirSync(join(folder, 'scripts'))
for (const name of [...commands, ...PARTS]) cpSync(join(ROOT, 'scripts', name), join(folder, 'scripts', name))

describe('the --help of scripts', () => {
  it.each(commands)('%s describes purpose and usage, and starts nothing', (name) => {
    for (const arguments_ of [['--help'], ['-h']]) {
      const { status, stdout, stderr } = spawnSync(join(folder, 'scripts', name), arguments_, {
        encoding: 'utf8',
        cwd: folder,
        env: { PATH: '/usr/bin:/bin' },
      })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      const [purpose, empty, example] = stdout.split('\n')
      expect(purpose).toMatch(/^[A-Z].+\.$/)
      expect([empty, example.startsWith(`  scripts/${name}`)]).toEqual(['', true])
      expect(stdout).not.toMatch(/^set |^#/m)
    }
  })

  it('is printed also after other arguments', () => {
    const { status, stdout } = spawnSync(join(folder, 'scripts/chart'), ['package', '--help'], { encoding: 'utf8' })
    expect([status, stdout.includes('--output FOLDER')]).toEqual([0, true])
  })
})
