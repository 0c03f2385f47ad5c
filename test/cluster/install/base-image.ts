import { existsSync } from 'node:fs'
import { copyFile, cp, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Builder } from '../../../scripts/container/build.ts'
import { findCommand, run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'

/** Trusted certificates of Debian. */
export const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** Of what Debian makes of it, on which other images of tests are built. */
export const DISTRIBUTION = 'localhost/drape-test/debian:trixie'

/**
 * Makes the image that the Containerfile names as its base, without any registry: Debian by debootstrap, Node from its package of
 * npm, and the npm of this machine. One that is there already stays.
 */
export async function makeBaseImage(builder: Builder): Promise<void> {
  await makeDistribution(builder)
  const name = await baseOf(join(ROOT, 'Containerfile'))
  if (await hasImage(name, builder)) return
  const npm = findCommand(['npm'])
  if (npm === undefined) throw new Error('there is no npm')
  await withFolder(async (folder) => {
    await copyFile(join(ROOT, 'node_modules/node/bin/node'), join(folder, 'node'))
    await cp(join(dirname(await realpath(npm)), '..'), join(folder, 'npm'), { recursive: true })
    await buildIn(folder, {
      name,
      builder,
      lines: [
        `FROM ${DISTRIBUTION}`,
        'COPY node /usr/local/bin/node',
        'COPY npm/ /usr/local/lib/node_modules/npm/',
        'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
      ],
    })
  })
}

async function makeDistribution(builder: Builder): Promise<void> {
  if (await hasImage(DISTRIBUTION, builder)) return
  await withFolder(async (folder) => {
    await run('debootstrap', ['--variant=minbase', 'trixie', join(folder, 'root'), 'http://deb.debian.org/debian'])
    // Whatever vouches for registries here has to do so inside as well.
    if (existsSync(CERTIFICATES))
      await cp(await realpath(CERTIFICATES), join(folder, 'root', CERTIFICATES), { recursive: true })
    await buildIn(folder, {
      name: DISTRIBUTION,
      builder,
      lines: ['FROM scratch', 'COPY root/ /'],
    })
  })
}

/** Builds an image of these lines in the folder. */
export async function buildIn(
  folder: string,
  { name, lines, builder }: { name: string; lines: readonly string[]; builder: Builder },
): Promise<void> {
  await writeFile(join(folder, 'Containerfile'), `${lines.join('\n')}\n`)
  const { command, options = [], buildOptions = [] } = builder
  await run(command, [...options, 'build', ...buildOptions, '--file', 'Containerfile', '--tag', name, '.'], {
    cwd: folder,
  })
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
