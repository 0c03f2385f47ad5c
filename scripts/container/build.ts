import { findCommand, run } from '../stack/commands.ts'

export const TARGETS = ['api', 'worker', 'worker-cuda', 'controller'] as const
export type Target = (typeof TARGETS)[number]

/** Of this machine, as images name it. */
export const OWN_ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch

/** Tool and settings of image builds. */
export interface Builder {
  /** Path or name of buildah or podman. */
  readonly command: string
  /** Global options, for example `--root`. */
  readonly options?: readonly string[]
  /** Build options, for example `--isolation`. */
  readonly buildOptions?: readonly string[]
  /** Base image; default: that of the Containerfile. */
  readonly base?: string
  /** An npmrc file, which does not remain in the image. */
  readonly npmrc?: string
}

export interface ImageBuild {
  /** The clone. */
  readonly root: string
  readonly name: string
  readonly builder: Builder
  /** `amd64` or `arm64`; default: that of this machine. */
  readonly architecture?: string
  /** Default true. */
  readonly cache?: boolean
}

/** @throws Error if neither buildah nor podman is in PATH. */
export function findBuilder(): string {
  const command = findCommand(['buildah', 'podman'])
  if (command === undefined) throw new Error('Neither buildah nor podman is in PATH: install one of them first')
  return command
}

/**
 * Builds one target of the clone `root` as `name`. Timestamps are SOURCE_DATE_EPOCH, or the epoch: unchanged layers keep
 * their digest from release to release.
 */
export async function buildImage(
  target: Target,
  { root, name, builder, architecture, cache = true }: ImageBuild,
): Promise<void> {
  const { command, options = [], buildOptions = [], base, npmrc } = builder
  await run(
    command,
    [
      ...options,
      'build',
      ...buildOptions,
      ...(architecture === undefined ? [] : ['--platform', `linux/${architecture}`]),
      ...['--file', 'Containerfile', '--target', target, '--tag', name],
      ...['--timestamp', process.env.SOURCE_DATE_EPOCH || '0'],
      ...['--format', 'oci', '--layers', ...(cache ? [] : ['--no-cache'])],
      ...(base === undefined ? [] : ['--build-arg', `BASE=${base}`]),
      ...(npmrc === undefined ? [] : ['--secret', `id=npmrc,src=${npmrc}`]),
      '.',
    ],
    { cwd: root },
  )
}

/** Exports the image to a folder in OCI layout, under its name. */
export async function exportImage(name: string, folder: string, { command, options = [] }: Builder): Promise<void> {
  await run(command, [...options, 'push', '--quiet', '--format', 'oci', name, `oci:${folder}:${name}`])
}
