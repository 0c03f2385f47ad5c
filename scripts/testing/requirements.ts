import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { findCommand } from '../stack/commands.ts'
import { findGo } from '../stack/go-tool.ts'

/** A program or library that tests need and npm does not bring. */
export interface Requirement {
  /** As its makers write it. */
  readonly name: string
  /** The path of its file; undefined where it is missing. */
  readonly find: () => string | undefined
  /** Debian's packages that bring it; none where Debian's is too old. */
  readonly packages: readonly string[]
  /** What else to do where it is missing, as the end of a sentence. */
  readonly otherwise?: string
  /** Only tests that root runs need it. */
  readonly root?: boolean
}

/** What tests need beside Node, npm and what npm brings. */
export const REQUIREMENTS = {
  go: { name: 'Go', find: findGo, packages: [], otherwise: 'install Go 1.21 or later (https://go.dev/dl)' },
  redis: command('Redis', ['redis-server', 'valkey-server'], { packages: ['redis-server'] }),
  chromium: {
    name: 'Chromium',
    find: () => [process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'].find((path) => existsSync(path)),
    // Text has no width where there is no font.
    packages: ['chromium', 'fonts-dejavu-core'],
    otherwise: 'set CHROMIUM_PATH',
  },
  faketime: {
    name: 'libfaketime',
    find: () => FAKETIME.flatMap((place) => globSync(place))[0],
    packages: ['libfaketime'],
  },
  python: {
    name: 'Python 3.11 or later with its venv module',
    find: () => PYTHONS.find(hasVenv),
    packages: ['python3', 'python3-venv'],
  },
  php: command('PHP', ['php'], { packages: ['php-cli'] }),
  ruby: command('Ruby', ['ruby']),
  curl: command('curl', ['curl']),
  openssl: command('OpenSSL', ['openssl']),
  ps: command('ps', ['ps'], { packages: ['procps'] }),
  psql: command('psql', ['psql'], { packages: ['postgresql-client'] }),
  redisCli: command('redis-cli', ['redis-cli', 'valkey-cli'], { packages: ['redis-tools'] }),
  buildah: command('buildah', ['buildah'], { root: true }),
  skopeo: command('skopeo', ['skopeo'], { root: true }),
  debootstrap: command('debootstrap', ['debootstrap'], { root: true }),
  certificates: command('update-ca-certificates', ['update-ca-certificates'], {
    packages: ['ca-certificates'],
    root: true,
  }),
  containerd: command('containerd', ['containerd'], { root: true }),
  runc: command('runc', ['runc'], { root: true }),
  bridge: {
    name: 'the CNI plug-in "bridge"',
    find: () => ['/usr/lib/cni/bridge', '/opt/cni/bin/bridge'].find((path) => existsSync(path)),
    packages: ['containernetworking-plugins'],
    root: true,
  },
  iptables: command('iptables', ['iptables'], { root: true }),
  conntrack: command('conntrack', ['conntrack'], { root: true }),
  ip: command('ip', ['ip'], { packages: ['iproute2'], root: true }),
} as const satisfies Readonly<Record<string, Requirement>>

export type RequirementName = keyof typeof REQUIREMENTS

/** The names of what a complete run needs of this machine. */
export function findAllNames(isRoot: boolean): RequirementName[] {
  const all = Object.entries(REQUIREMENTS) as [RequirementName, Requirement][]
  return all.filter(([, { root }]) => isRoot || !root).map(([name]) => name)
}

const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11']
const FAKETIME = [
  '/usr/lib/*/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
  '/usr/local/lib/faketime/libfaketime.so.1',
]

/** The same question as in scripts/engines/setup. */
function hasVenv(python: string): boolean {
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
  return spawnSync(python, ['-c', check], { stdio: 'ignore' }).status === 0
}

function command(
  name: string,
  programs: readonly string[],
  { packages = [programs[0]], root = false }: Partial<Requirement> = {},
): Requirement {
  return { name, find: () => findCommand(programs) ?? findInSbin(programs), packages, root }
}

/** Debian's PATH of a plain user, and that of some containers, leaves these folders out. */
function findInSbin(programs: readonly string[]): string | undefined {
  return programs
    .flatMap((program) => ['/usr/sbin', '/sbin'].map((folder) => `${folder}/${program}`))
    .find((path) => existsSync(path))
}
