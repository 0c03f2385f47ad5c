import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface LockedPackage {
  readonly hasInstallScript?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
}

describe('the installed packages', () => {
  const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> }
  const { packages } = read('package-lock.json') as { packages: Record<string, LockedPackage> }
  const locked = Object.entries(packages).filter(([path]) => path !== '')

  it('have no install script without a decision, on any supported platform', () => {
    const isSupported = ({ os = ['linux'], cpu = ['x64'] }: LockedPackage) =>
      os.some((name) => ['linux', 'darwin'].includes(name)) && cpu.some((name) => ['x64', 'arm64'].includes(name))
    const undecided = locked
      .filter(([, entry]) => entry.hasInstallScript && isSupported(entry))
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
      .filter((name) => allowScripts[name] === undefined)
    expect(undecided).toEqual([])
  })

  it('are pinned by their integrity hashes', () => {
    expect(locked.filter(([, { integrity, link }]) => !link && !integrity).map(([path]) => path)).toEqual([])
  })
})

function read(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
}
