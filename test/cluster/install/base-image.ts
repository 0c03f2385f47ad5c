import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findCommand, run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'

/** Tool and settings of image builds. */
export interface Builder {
  /** Path or name of buildah. */
  readonly command: string
  /** Global options, for example `--root`. */
  readonly options: readonly string[]
  /** Build options, for example `--isolation`. */
  readonly buildOptions: readonly string[]
}

/** Trusted certificates of Debian. */
export const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** Of what Debian makes of it, on which other images of tests are built. */
export const DISTRIBUTION = 'localhost/drape-test/debian:trixie'

/**
 * Makes the images that the Containerfile names as its bases, without any registry: Debian by debootstrap, Node from its package of
 * npm, and the npm of this machine. Those that are there already stay.
 */
export async function makeBaseImages(builder: Builder): Promise<void> {
  await makeDistribution(builder)
  const { BASE, RUNTIME } = await readBases(join(ROOT, 'Containerfile'))
  await run(builder.command, [...builder.options, 'tag', DISTRIBUTION, RUNTIME])
  if (await hasImage(BASE, builder)) return
  const npm = findCommand(['npm'])
  if (npm === undefined) throw new Error('there is no npm')
  await withFolder(async (folder) => {
    await mkdir(join(folder, 'local/bin'), { recursive: true })
    await copyFile(join(ROOT, 'node_modules/node/bin/node'), join(folder, 'local/bin/node'))
    await cp(join(dirname(await realpath(npm)), '..'), join(folder, 'local/lib/node_modules/npm'), { recursive: true })
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'local/bin/npm'))
    await buildIn(folder, { name: BASE, lines: [`FROM ${DISTRIBUTION}`, 'COPY local/ /usr/local/'], builder })
  })
}

async function makeDistribution(builder: Builder): Promise<void> {
  if (await hasImage(DISTRIBUTION, builder)) return
  await withFolder(async (folder) => {
    const root = join(folder, 'root')
    await run('debootstrap', ['--variant=minbase', 'trixie', root, 'http://deb.debian.org/debian'])
    // Whatever vouches for registries here has to do so inside as well.
    if (existsSync(CERTIFICATES)) await cp(await realpath(CERTIFICATES), join(root, CERTIFICATES), { recursive: true })
    await buildIn(folder, { name: DISTRIBUTION, lines: ['FROM scratch', 'COPY root/ /'], builder })
  })
}

interface BuildIn {
  readonly name: string
  readonly lines: readonly string[]
  readonly builder: Builder
}

/** Builds an image of these lines in the folder. */
export async function buildIn(folder: string, { name, lines, builder }: BuildIn): Promise<void> {
  await writeFile(join(folder, 'Containerfile'), `${lines.join('\n')}\n`)
  const { command, options, buildOptions } = builder
  await run(command, [...options, 'build', ...buildOptions, '--file', 'Containerfile', '--tag', name, '.'], {
    cwd: folder,
  })
}

export async function hasImage(name: string, { command, options }: Builder): Promise<boolean> {
  const found = await run(command, [...options, 'images', '--quiet', name]).catch(() => '')
  return found.trim() !== ''
}

async function readBases(containerfile: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(containerfile, 'utf8')
  return Object.fromEntries([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, image]) => [name, image]))
}

export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-image-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
