import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Builder, OWN_ARCHITECTURE } from '../../../scripts/container/build.ts'
import { findCommand, run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { withEmulation } from './emulation.ts'

/** Trusted certificates of Debian. */
export const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** Of what Debian makes of it, on which other images of tests are built. */
export const DISTRIBUTION = 'localhost/drape-test/debian:trixie'

/**
 * Makes the image that the Containerfile names as its base, without any registry: Debian by debootstrap, Node from its package of
 * npm, and the npm of this machine. One that is there already stays. For the other architecture, whose programs run by emulation, it
 * has another name. Returns the name.
 */
export async function makeBaseImage(builder: Builder, architecture = OWN_ARCHITECTURE): Promise<string> {
  const distribution = await makeDistribution(builder, architecture)
  const name = nameFor(architecture, await baseOf(join(ROOT, 'Containerfile')))
  if (await hasImage(name, builder)) return name
  const npm = findCommand(['npm'])
  if (npm === undefined) throw new Error('there is no npm')
  await withFolder(async (folder) => {
    await mkdir(join(folder, 'local/bin'), { recursive: true })
    await copyNode(join(folder, 'local/bin/node'), architecture)
    await cp(join(dirname(await realpath(npm)), '..'), join(folder, 'local/lib/node_modules/npm'), { recursive: true })
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'local/bin/npm'))
    const lines = [`FROM ${distribution}`, 'COPY local/ /usr/local/']
    await buildIn(folder, { name, lines, builder, architecture })
  })
  return name
}

async function makeDistribution(builder: Builder, architecture: string): Promise<string> {
  const name = nameFor(architecture, DISTRIBUTION)
  if (await hasImage(name, builder)) return name
  await withFolder(async (folder) => {
    const root = join(folder, 'root')
    const foreign = architecture === OWN_ARCHITECTURE ? [] : ['--foreign', `--arch=${architecture}`]
    await run('debootstrap', [...foreign, '--variant=minbase', 'trixie', root, 'http://deb.debian.org/debian'])
    if (foreign.length > 0) await configure(root, architecture)
    // Whatever vouches for registries here has to do so inside as well.
    if (existsSync(CERTIFICATES)) await cp(await realpath(CERTIFICATES), join(root, CERTIFICATES), { recursive: true })
    await buildIn(folder, { name, lines: ['FROM scratch', 'COPY root/ /'], builder, architecture })
  })
  return name
}

/** Runs the scripts of the packages. */
async function configure(root: string, architecture: string): Promise<void> {
  // The variable by which debootstrap knows that it cannot make devices; the first stage made them.
  const stage = ['env', 'container=lxc', 'chroot', root, '/debootstrap/debootstrap', '--second-stage']
  const [command, ...args] = withEmulation(architecture, stage)
  await run(command, args)
}

/** Of the same version for every architecture. */
async function copyNode(to: string, architecture: string): Promise<void> {
  const installed = join(ROOT, 'node_modules/node')
  if (architecture === OWN_ARCHITECTURE) return copyFile(join(installed, 'bin/node'), to)
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  await withFolder(async (folder) => {
    const packed = (
      await run('npm', ['pack', '--silent', `node-linux-${architecture}@${version}`], { cwd: folder })
    ).trim()
    await run('tar', ['--extract', '--file', packed, 'package/bin/node'], { cwd: folder })
    await copyFile(join(folder, 'package/bin/node'), to)
  })
}

function nameFor(architecture: string, own: string): string {
  return architecture === OWN_ARCHITECTURE ? own : `localhost/drape-test/${own.split('/').at(-1)}-${architecture}`
}

interface BuildIn {
  readonly name: string
  readonly lines: readonly string[]
  readonly builder: Builder
  /** Default: that of this machine. */
  readonly architecture?: string
}

/** Builds an image of these lines in the folder. */
export async function buildIn(folder: string, { name, lines, builder, architecture }: BuildIn): Promise<void> {
  await writeFile(join(folder, 'Containerfile'), `${lines.join('\n')}\n`)
  const { command, options = [], buildOptions = [] } = builder
  const platform = architecture === undefined ? [] : ['--platform', `linux/${architecture}`]
  await run(
    command,
    [...options, 'build', ...buildOptions, ...platform, '--file', 'Containerfile', '--tag', name, '.'],
    {
      cwd: folder,
    },
  )
}

export async function hasImage(name: string, { command, options = [] }: Builder): Promise<boolean> {
  const found = await run(command, [...options, 'images', '--quiet', name]).catch(() => '')
  return found.trim() !== ''
}

async function baseOf(containerfile: string): Promise<string> {
  const [, name] = /^ARG BASE=(\S+)$/m.exec(await readFile(containerfile, 'utf8')) ?? []
  if (name === undefined) throw new Error('the Containerfile names no base')
  return name
}

export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-image-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
