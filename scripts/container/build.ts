import { findCommand, run } from '../stack/commands.ts'

export const TARGETS = ['api', 'worker', 'worker-cuda', 'controller'] as const
export type Target = (typeof TARGETS)[number]

/** What images are built with, and where they are kept. */
export interface Builder {
  /** Of buildah or podman. */
  readonly command: string
  /** Before each of its subcommands, such as `--root`. */
  readonly options?: readonly string[]
  /** Of building alone, such as `--isolation`. */
  readonly buildOptions?: readonly string[]
  /** The image that everything is built on; the Containerfile's own when absent. */
  readonly base?: string
  /** A file with npm's settings, of which nothing stays in an image. */
  readonly npmrc?: string
}

/** @throws Error when neither buildah nor podman is in PATH. */
export function findBuilder(): string {
  const command = findCommand(['buildah', 'podman'])
  if (command === undefined) throw new Error('Neither buildah nor podman is there: install one of them first')
  return command
}

/**
 * Builds one target in the clone `root` under `name`. Times in it are those of SOURCE_DATE_EPOCH, or of the first second that
 * there is: what did not change keeps its digest, from release to release.
 */
export async function buildImage(
  target: Target,
  { root, name, builder, cache = true }: { root: string; name: string; builder: Builder; cache?: boolean },
): Promise<void> {
  const { command, options = [], buildOptions = [], base, npmrc } = builder
  await run(
    command,
    [
      ...options,
      'build',
      ...buildOptions,
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

/** Adds the image to a folder in the layout of OCI, under its name. */
export async function exportImage(name: string, folder: string, { command, options = [] }: Builder): Promise<void> {
  await run(command, [...options, 'push', '--quiet', '--format', 'oci', name, `oci:${folder}:${name}`])
}
