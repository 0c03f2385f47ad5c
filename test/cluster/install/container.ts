import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../../scripts/stack/commands.ts'
import { spawnProcess, type TestProcess } from '../../support/process.ts'
import type { Builder } from './base-image.ts'

/** The file system of an image, from which processes are started. */
export interface Container {
  /** Where it lies on this machine. */
  readonly root: string
  /** User and group of its program. */
  readonly user: string
  /** Starts the image's program, or `command`, and resolves when it is started. */
  start(options: { command?: readonly string[]; env?: Readonly<Record<string, string>> }): Promise<TestProcess>
  remove(): Promise<void>
}

/** The fields of an image configuration that a container runtime reads. */
interface ImageConfig {
  readonly User?: string
  readonly Env?: readonly string[]
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly WorkingDir?: string
}

/**
 * Mounts in a namespace of its own: the image read-only, what a node adds to it (/proc, /dev), an empty /tmp, and `folder` at
 * the same path as outside. Then it becomes the user, for good.
 */
const SCRIPT = `
set -eu
root=$1 folder=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir -p "$root$folder"
mount --bind "$folder" "$root$folder"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs env -i "$@"
`

/**
 * Lays out the image so that its program runs as a node would run it, but for the network, which is this machine's: read-only,
 * as the user that the image names, with `folder` to write to.
 */
export async function createContainer(
  image: string,
  { builder: { command, options }, folder }: { builder: Builder; folder: string },
): Promise<Container> {
  const buildah = (...args: string[]) => run(command, [...options, ...args]).then((text) => text.trim())
  const id = await buildah('from', '--pull-never', image)
  const root = await buildah('mount', id)
  for (const path of ['proc', 'dev']) await mkdir(join(root, path), { recursive: true })
  const { OCIv1 } = JSON.parse(await buildah('inspect', '--type', 'image', image)) as { OCIv1: { config: ImageConfig } }
  const { User = '', Env = [], Entrypoint = [], Cmd = [], WorkingDir = '/' } = OCIv1.config
  return {
    root,
    user: User,
    start: ({ command: own = [...Entrypoint, ...Cmd], env = {} }) => {
      const variables = [...Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
      const [uid, gid = uid] = User.split(':')
      const enter = ['/usr/bin/unshare', `--root=${root}`, `--wd=${WorkingDir}`, `--setgid=${gid}`, `--setuid=${uid}`]
      const inOwnNamespaces = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', SCRIPT, 'sh']
      const [program, ...args] = [...inOwnNamespaces, root, folder, ...variables, ...enter, ...own]
      return spawnProcess({ command: program, args, cwd: '/', env: process.env })
    },
    remove: async () => {
      await buildah('rm', id)
    },
  }
}
