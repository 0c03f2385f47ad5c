import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { requestService } from '../../support/request-service.ts'

/** A clone of the repository that `scripts/release` publishes. */
export interface ReleaseClone {
  readonly folder: string
  /** Of package.json. */
  readonly version: string
  git(...args: readonly string[]): Promise<string>
  /** Commits all changes. */
  commit(): Promise<void>
  /** Runs the command with these options of its own; returns the digests by repository. */
  release(settings: ReleaseSettings, ...options: readonly string[]): Promise<Record<string, string>>
}

export interface ReleaseSettings {
  /** Host and port of the registry. */
  readonly address: string
  /** Path of the key that signs. */
  readonly key: string
  /** The base image, with a digest. */
  readonly base: string
  /** Folder for the images of the builder, and how it stores them. */
  readonly storage: string
  readonly driver: Driver
}

type Driver = 'overlay' | 'vfs'

/** Options of buildah. */
export function storeIn(folder: string, driver: Driver): readonly string[] {
  return ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', driver]
}

/** Copies the files of the working tree, or of these folders and beside them, with the packages; nothing is committed. */
export async function createClone(folders?: readonly string[]): Promise<ReleaseClone> {
  const { path } = await requestService('folder', null)
  const folder = join(path, 'clone')
  const listed = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: ROOT })
  const isNeeded = (file: string) =>
    folders === undefined || !file.includes('/') || folders.includes(file.split('/')[0])
  for (const file of listed.split('\0').filter((name) => name !== '' && isNeeded(name))) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await cp(join(ROOT, file), join(folder, file)).catch(ignoreDeleted)
  }
  const clone = await openClone(folder)
  await clone.git('init', '--quiet')
  return clone
}

/** Clones the last commit of the clone to another folder. */
export async function cloneAgain(from: ReleaseClone): Promise<ReleaseClone> {
  const { path } = await requestService('folder', null)
  const folder = join(path, 'another-clone')
  await from.git('clone', '--quiet', from.folder, folder)
  return openClone(folder)
}

async function openClone(folder: string): Promise<ReleaseClone> {
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const git = (...args: readonly string[]) => run('git', args, { cwd: folder })
  return {
    folder,
    version: JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')).version,
    git,
    commit: async () => {
      await git('add', '--all')
      await git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'commit', '--quiet', '--message=test')
    },
    release: async ({ address, key, base, storage, driver }, ...options) => {
      const args = [
        ...['--registry', `${address}/drape`, '--key', key, '--no-log'],
        ...storeIn(storage, driver).map((option) => `--builder-option=${option}`),
        '--build-option=--tls-verify=false',
        ...options,
      ]
      const env = { ...process.env, BASE: base }
      const lines = (await run(join(folder, 'scripts/release'), args, { cwd: storage, env })).trim()
      return Object.fromEntries(lines.split('\n').map((line) => line.split('@')))
    },
  }
}

function ignoreDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
