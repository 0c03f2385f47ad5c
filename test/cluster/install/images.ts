import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { findCommand, run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { commandsOf, runCommands } from '../../support/documented-blocks.ts'
import { failUnlessAllowed, reasonWithout } from '../../support/missing.ts'
import { writeProgram } from '../../support/write-program.ts'
import { type Builder, CERTIFICATES, makeBaseImages } from './base-image.ts'

export const CPU_TARGETS = ['api', 'worker', 'controller'] as const

const STORAGE = join(ROOT, '.cache/images')
/** From then on what was kept for builds of the past is let go. */
const MUCH_MEGABYTES = 8000

/**
 * A builder that keeps its images in the clone's cache and asks no registry for any, with the bases that the Containerfile names.
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
    command: 'buildah',
    options: ['--root', join(STORAGE, 'storage'), '--runroot', join(STORAGE, 'run'), '--storage-driver', 'overlay'],
    buildOptions: ['--isolation', 'chroot', '--pull-never', '--secret', `id=npmrc,src=${npmrc}`],
  }
  const [kept] = (await run('du', ['--summarize', '--block-size=1M', STORAGE])).split('\t')
  if (Number(kept) > MUCH_MEGABYTES) await run(builder.command, [...builder.options, 'rmi', '--prune', '--force'])
  await makeBaseImages(builder)
  return builder
}

/** A block of commands that builds the images as `registry.example/drape/…:0.1.0`. */
export interface BuildPage {
  readonly page: string
  readonly heading: string
}
const QUICKSTART: BuildPage = {
  page: 'docs/start/platform.md',
  heading: 'Quickstart: operate Drape on Kubernetes',
}

/** Builds api, worker and controller with the commands of the page, and returns their names. */
export async function buildImages(builder: Builder, { page, heading } = QUICKSTART): Promise<Names> {
  await runCommands(commandsOf(page, heading), { folder: ROOT, env: await builderEnvironment(builder) })
  const names = namesWith('test')
  for (const [target, name] of Object.entries(names))
    await run(builder.command, [...builder.options, 'tag', `registry.example/drape/${target}:0.1.0`, name])
  return names
}

/** Variables with which `buildah`, as `scripts/images` finds it, is the builder with its options. */
async function builderEnvironment({ command, options, buildOptions }: Builder): Promise<NodeJS.ProcessEnv> {
  const bin = join(STORAGE, 'bin')
  const path = findCommand([command]) ?? command
  const build = `[ "$1" = build ] && shift && exec ${[path, ...options, 'build', ...buildOptions].map(quote).join(' ')} "$@"`
  await writeProgram(join(bin, 'buildah'), `${build}\nexit 1`)
  return { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
}

type Names = Readonly<Record<(typeof CPU_TARGETS)[number], string>>

function namesWith(tag: string): Names {
  return Object.fromEntries(CPU_TARGETS.map((target) => [target, `docker.io/drape/${target}:${tag}`])) as Names
}

function quote(text: string): string {
  return `'${text}'`
}

/** Address of this machine's registry. The node trusts the same certificates as this machine. */
async function npmSettings(): Promise<string> {
  const registry = (await run('npm', ['config', 'get', 'registry'], { cwd: '/' })).trim()
  return `registry=${registry}\n${existsSync(CERTIFICATES) ? `cafile=${CERTIFICATES}\n` : ''}`
}
