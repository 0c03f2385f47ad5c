import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Builder, buildImage, findBuilder, type Target } from '../../../scripts/container/build.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { failUnlessAllowed, reasonWithout } from '../../support/missing.ts'
import { CERTIFICATES, makeBaseImage } from './base-image.ts'

export const CPU_TARGETS = ['api', 'worker', 'controller'] as const satisfies readonly Target[]

const STORAGE = join(ROOT, '.cache/images')
/** From then on what was kept for builds of the past is let go. */
const MUCH_MEGABYTES = 8000

/**
 * A builder that keeps its images in the clone's cache and asks no registry for any, with the base that the Containerfile names.
 * Fails or returns null as `failUnlessAllowed` does.
 */
export async function findImageBuilder(): Promise<Builder | null> {
  if (process.getuid?.() !== 0) return failUnlessAllowed('Container images can only be built by root.')
  if (await reasonWithout('buildah', 'debootstrap', 'certificates')) return null
  return prepareBuilder().catch((cause) => failUnlessAllowed(`No container images can be built: ${cause.message}.`))
}

async function prepareBuilder(): Promise<Builder> {
  await mkdir(STORAGE, { recursive: true })
  const npmrc = join(STORAGE, 'npmrc')
  await writeFile(npmrc, await npmSettings())
  const builder: Builder = {
    command: findBuilder(),
    options: ['--root', join(STORAGE, 'storage'), '--runroot', join(STORAGE, 'run'), '--storage-driver', 'overlay'],
    buildOptions: ['--isolation', 'chroot', '--pull-never'],
    npmrc,
  }
  const [kept] = (await run('du', ['--summarize', '--block-size=1M', STORAGE])).split('\t')
  if (Number(kept) > MUCH_MEGABYTES)
    await run(builder.command, [...(builder.options ?? []), 'rmi', '--prune', '--force'])
  await makeBaseImage(builder)
  return builder
}

/** Builds api, worker and controller and returns their names. */
export function buildImages(builder: Builder): Promise<Names> {
  return build(builder, { tag: 'test', cache: true })
}

/** Builds them once more, from nothing but the base. */
export function rebuildImages(builder: Builder): Promise<Names> {
  return build(builder, { tag: 'again', cache: false })
}

type Names = Readonly<Record<(typeof CPU_TARGETS)[number], string>>

async function build(builder: Builder, { tag, cache }: { tag: string; cache: boolean }): Promise<Names> {
  const names = CPU_TARGETS.map((target) => [target, `docker.io/drape/${target}:${tag}`] as const)
  for (const [target, name] of names) await buildImage(target, { root: ROOT, name, builder, cache })
  return Object.fromEntries(names) as Names
}

/** Address of this machine's registry. The node trusts the same certificates as this machine. */
async function npmSettings(): Promise<string> {
  const registry = (await run('npm', ['config', 'get', 'registry'], { cwd: '/' })).trim()
  return `registry=${registry}\n${existsSync(CERTIFICATES) ? `cafile=${CERTIFICATES}\n` : ''}`
}
