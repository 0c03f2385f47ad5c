import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { findCommand } from '../stack/commands.ts'
import type { LaneName } from './lanes.ts'

/** A program or library that tests need and npm does not install. */
export interface Requirement {
  /** Official spelling. */
  readonly name: string
  /** The path of its file; undefined if it is missing. */
  readonly find: () => string | undefined
  /** Debian packages that contain it; empty if Debian's version is too old. */
  readonly packages: readonly string[]
  /** Alternative installation, as the end of a sentence. */
  readonly otherwise?: string
  /** Required only by tests of these lanes; default: any. */
  readonly only?: readonly LaneName[]
}

/** The lanes that build images and start nodes. */
const NODES = ['images', 'long'] as const

/** Requirements of the tests besides Node, npm and npm packages. */
export const REQUIREMENTS = {
  redis: command('Redis', ['redis-server', 'valkey-server'], { packages: ['redis-server'] }),
  chromium: {
    name: 'Chromium',
    find: () => [process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'].find((path) => existsSync(path)),
    // Without a font, text has no width.
    packages: ['chromium', 'fonts-dejavu-core'],
    otherwise: 'set CHROMIUM_PATH',
  },
  firefox: {
    name: 'Firefox',
    find: () => findFirefox(process.env.FIREFOX_PATH),
    packages: ['firefox-esr', 'fonts-dejavu-core'],
    only: ['browsers'],
    otherwise: 'set FIREFOX_PATH',
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
  pgbouncer: command('PgBouncer', ['pgbouncer'], { only: ['products'] }),
  haproxy: command('HAProxy', ['haproxy'], { only: ['products'] }),
  tinyproxy: command('tinyproxy', ['tinyproxy'], { packages: ['tinyproxy-bin'], only: ['products'] }),
  redisCli: command('redis-cli', ['redis-cli', 'valkey-cli'], { packages: ['redis-tools'] }),
  buildah: command('buildah', ['buildah'], { only: NODES }),
  skopeo: command('skopeo', ['skopeo'], { only: NODES }),
  debootstrap: command('debootstrap', ['debootstrap'], { only: NODES }),
  certificates: command('update-ca-certificates', ['update-ca-certificates'], {
    packages: ['ca-certificates'],
    only: NODES,
  }),
  containerd: command('containerd', ['containerd'], { only: NODES }),
  runc: command('runc', ['runc'], { only: NODES }),
  bridge: {
    name: 'the CNI plug-in "bridge"',
    find: () => ['/usr/lib/cni/bridge', '/opt/cni/bin/bridge'].find((path) => existsSync(path)),
    packages: ['containernetworking-plugins'],
    only: NODES,
  },
  iptables: command('iptables', ['iptables'], { only: NODES }),
  conntrack: command('conntrack', ['conntrack'], { only: NODES }),
  ip: command('ip', ['ip'], { packages: ['iproute2'], only: NODES }),
} as const satisfies Readonly<Record<string, Requirement>>

export type RequirementName = keyof typeof REQUIREMENTS

/** The requirements of these lanes. */
export function findNames(lanes: readonly LaneName[]): RequirementName[] {
  const all = Object.entries(REQUIREMENTS) as [RequirementName, Requirement][]
  return all
    .filter(([, { only }]) => only === undefined || only.some((lane) => lanes.includes(lane)))
    .map(([name]) => name)
}

/** The file that is named, or that of Debian or of Mozilla's own package. */
function findFirefox(named: string | undefined): string | undefined {
  return named === undefined ? findCommand(['firefox-esr', 'firefox']) : [named].find((path) => existsSync(path))
}

const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11']
const FAKETIME = [
  '/usr/lib/*/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
  '/usr/local/lib/faketime/libfaketime.so.1',
]

/** The same check as in scripts/engines/setup. */
function hasVenv(python: string): boolean {
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
  return spawnSync(python, ['-c', check], { stdio: 'ignore' }).status === 0
}

function command(
  name: string,
  programs: readonly string[],
  { packages = [programs[0]], only }: Partial<Requirement> = {},
): Requirement {
  return { name, find: () => findCommand(programs) ?? findInSbin(programs), packages, only }
}

/** Debian's PATH of a regular user, and that of some containers, lacks these folders. */
function findInSbin(programs: readonly string[]): string | undefined {
  return programs
    .flatMap((program) => ['/usr/sbin', '/sbin'].map((folder) => `${folder}/${program}`))
    .find((path) => existsSync(path))
}
