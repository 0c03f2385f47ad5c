import { globSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../stack/session.ts'
import { type Builder, buildImage, exportImage, findBuilder, TARGETS, type Target } from './build.ts'
import { measureUnpacked, readLayout, type StoredImage } from './layout.ts'

const USAGE = `usage: images build|sizes|verify [options]

  build     builds the images
  sizes     prints the sizes: compressed, on a node, and on a node without model weights
  verify    builds each image twice without cache and compares the digests

  --target NAME     only this target: ${TARGETS.join(', ')}; repeatable. Default: all but worker-cuda
  --prefix PREFIX   prefix of the image names, for example registry.example/drape. Default drape
  --tag TAG         tag of the images. Default dev
  --base IMAGE      base image with glibc, Node 24 and npm; use a digest, image@sha256:…, to pin the image
  --build-arg N=V   build argument of the Containerfile, such as PYTHON or CUDA_INDEX; repeatable
  --npmrc FILE      npm configuration during the build, such as a private registry; not stored in the images`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    target: { type: 'string', multiple: true },
    prefix: { type: 'string', default: 'drape' },
    tag: { type: 'string', default: 'dev' },
    base: { type: 'string' },
    'build-arg': { type: 'string', multiple: true, default: [] },
    npmrc: { type: 'string' },
  },
})

const COMMANDS: Readonly<Record<string, (targets: readonly Target[], builder: Builder) => Promise<void>>> = {
  build: async (targets, builder) => {
    for (const target of targets) {
      await buildImage(target, { root: ROOT, name: nameOf(target), builder })
      console.log(nameOf(target))
    }
  },
  sizes: async (targets, builder) => {
    await withLayout(targets, builder, async (folder, images) => {
      console.log('image | sent | on a node | without weights')
      for (const [index, { name, size, layers }] of images.entries()) {
        const unpacked = await measureUnpacked(folder, layers)
        const bare = targets[index].startsWith('worker') ? unpacked - measureWeights() : unpacked
        console.log([name, ...[size, unpacked, bare].map(megabytes)].join(' | '))
      }
    })
  },
  verify: async (targets, builder) => {
    const build = async () => {
      for (const target of targets) {
        await buildImage(target, { root: ROOT, name: nameOf(target), builder, cache: false })
      }
      return withLayout(targets, builder, async (_folder, images) => images.map(({ digest }) => digest))
    }
    const [first, second] = [await build(), await build()]
    targets.forEach((target, index) => {
      const same = first[index] === second[index]
      console.log(`${nameOf(target)} ${same ? first[index] : `differs: ${first[index]}, then ${second[index]}`}`)
      if (!same) process.exitCode = 1
    })
  },
}

function nameOf(target: Target): string {
  return `${values.prefix}/${target}:${values.tag}`
}

async function withLayout<T>(
  targets: readonly Target[],
  builder: Builder,
  use: (folder: string, images: readonly StoredImage[]) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-images-'))
  try {
    for (const target of targets) await exportImage(nameOf(target), folder, builder)
    return await use(folder, await readLayout(folder))
  } finally {
    await rm(folder, { recursive: true })
  }
}

function measureWeights(): number {
  const paths = globSync(join(ROOT, 'worker/models/*.onnx'))
  return paths.reduce((sum, path) => sum + statSync(path).size, 0)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}

function readTargets(): readonly Target[] {
  const { target: names } = values
  if (names === undefined) return TARGETS.filter((name) => name !== 'worker-cuda')
  return names.map((name) => {
    const target = TARGETS.find((known) => known === name)
    if (target === undefined) throw new Error(`the target "${name}" does not exist`)
    return target
  })
}

const command = COMMANDS[positionals[0]]
if (command === undefined || positionals.length > 1) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  try {
    const buildOptions = values['build-arg'].flatMap((argument) => ['--build-arg', argument])
    await command(readTargets(), { command: findBuilder(), buildOptions, base: values.base, npmrc: values.npmrc })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
