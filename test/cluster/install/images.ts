import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Builder, buildImage, type Target } from '../../../scripts/container/build.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { CERTIFICATES, makeBaseImage } from './base-image.ts'
import { installPackages } from './debian.ts'

export const CPU_TARGETS = ['api', 'worker', 'controller'] as const satisfies readonly Target[]

const PROGRAMS = {
  buildah: '/usr/bin/buildah',
  debootstrap: '/usr/sbin/debootstrap',
  'ca-certificates': '/usr/sbin/update-ca-certificates',
}
const STORAGE = join(ROOT, '.cache/images')
/** From then on what was kept for builds of the past is let go. */
const MUCH_MEGABYTES = 8000

/**
 * A builder that keeps its images in the clone's cache and asks no registry for any, with the base that the Containerfile names.
 * Null, with one line on the console, where it cannot be had; for root that is a failure in continuous integration.
 */
export async function findImageBuilder(): Promise<Builder | null> {
  if (process.getuid?.() !== 0) {
    console.warn('Images are built by root alone. Their tests are skipped.')
    return null
  }
  const found = await prepareBuilder()
  if (!('unavailable' in found)) return found
  const reason = `No images can be built: ${found.unavailable}`
  if (process.env.CI === 'true') throw new Error(reason)
  console.warn(`${reason}. Their tests are skipped.`)
  return null
}

async function prepareBuilder(): Promise<Builder | { readonly unavailable: string }> {
  const missing = await installPackages(PROGRAMS)
  if (missing !== null) return missing
  await mkdir(STORAGE, { recursive: true })
  const npmrc = join(STORAGE, 'npmrc')
  await writeFile(npmrc, await npmSettings())
  const builder: Builder = {
    command: PROGRAMS.buildah,
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

/** Where this machine's registry is, and that whoever is believed here is believed inside. */
async function npmSettings(): Promise<string> {
  const registry = (await run('npm', ['config', 'get', 'registry'], { cwd: '/' })).trim()
  return `registry=${registry}\n${existsSync(CERTIFICATES) ? `cafile=${CERTIFICATES}\n` : ''}`
}
