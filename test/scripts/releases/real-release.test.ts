import { readdirSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { type Builder, exportImage } from '../../../scripts/container/build.ts'
import { readElf } from '../../../scripts/container/elf.ts'
import { type ImageConfig, measureUnpacked, readLayout } from '../../../scripts/container/layout.ts'
import { combineImages } from '../../../scripts/container/write-layout.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { makeBaseImage } from '../../cluster/install/base-image.ts'
import { CPU_TARGETS, findImageBuilder } from '../../cluster/install/images.ts'
import { type Containers, completeTryOn, createContainers, reachCluster } from '../../cluster/install/running-images.ts'
import { findSharedControlPlane } from '../../cluster/shared-control-plane.ts'
import { reasonWithout } from '../../support/missing.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { requestService } from '../../support/request-service.ts'
import { createKeys, type Keys } from './cosign.ts'
import { expectSigned, listImages } from './expect-signed.ts'
import { cloneAgain, createClone, type ReleaseClone, storeIn } from './release-clone.ts'
import { findReleaseProgram } from './small-release.ts'

const LONG = process.env.LONG_TESTS === '1'
const builder = LONG ? await findImageBuilder() : null
const programs = builder === null || (await reasonWithout('qemu')) !== '' ? null : await findPrograms()

const ARCHITECTURES = ['amd64', 'arm64'] as const
type Architecture = (typeof ARCHITECTURES)[number]
const CPUS = { amd64: 'x64', arm64: 'arm64' } as const
/** Native parts of packages, of which a wrong platform would be noticed only when they are loaded. */
const NATIVE = {
  api: ['sharp-linux-', 'libvips-cpp.so.'],
  worker: ['sharp-linux-', 'libvips-cpp.so.', 'onnxruntime_binding.node', 'libonnxruntime.so.'],
  controller: [],
}
/** Each takes minutes on two cores, and emulation ten times as long as the processor. */
const RELEASE_MS = 5_400_000
const EMULATION_MS = 1_800_000
const EMULATION_SECONDS = String(EMULATION_MS / 1000)
const LIMITS = { START_SECONDS: EMULATION_SECONDS, WORK_SECONDS: EMULATION_SECONDS }

// All images but worker-cuda, which differs by 2 GB of NVIDIA's libraries on a base image of its own.
describe.skipIf(programs === null)('a release of the real images', () => {
  let address: string
  let keys: Keys
  let base: string
  let clone: ReleaseClone
  let digests: Readonly<Record<string, string>>
  const undo = new AsyncDisposableStack()
  const containers = new Map<Architecture, Promise<Containers>>()

  beforeAll(async () => {
    if (programs === null || builder === null) return
    address = await startRegistryServer(programs.server)
    keys = await createKeys(programs.cosign)
    base = await publishBase(`${address}/node`, { builder, crane: programs.crane })
    clone = await createClone()
    await writeFile(join(clone.folder, 'CHANGELOG.md'), `# Changelog\n\n## ${clone.version} (2026-11-25)\n\n- Images\n`)
    await clone.commit()
    digests = await release(clone, '--verify')
  }, RELEASE_MS)
  afterAll(() => undo.disposeAsync())

  /** Releases from the clone with a builder that has built nothing before. */
  async function release(from: ReleaseClone, ...options: string[]) {
    const { path: storage } = await requestService('folder', null)
    const settings = { address, key: keys.key, base, storage, driver: 'overlay' } as const
    const build = ['--build-option=--isolation=chroot', `--npmrc=${builder?.npmrc}`]
    const startedAt = performance.now()
    try {
      return await from.release(settings, '--without=worker-cuda', ...build, ...options)
    } finally {
      const minutes = (performance.now() - startedAt) / 60_000
      console.log(`scripts/release ${options.join(' ')}: ${minutes.toFixed(1)} minutes`)
      // 10 GB, and containers that the builder leaves mounted.
      await removeAll({ command: 'buildah', options: storeIn(storage, 'overlay') })
    }
  }
  const published = () => ({ version: clone.version, base, digests })

  it('publishes api, worker and controller for amd64 and arm64, and the charts', async () => {
    const { crane = '' } = programs ?? {}
    const names = [...CPU_TARGETS, 'charts/drape-crds', 'charts/drape'].map((name) => `${address}/drape/${name}`)
    expect(Object.keys(digests)).toEqual(names)
    for (const name of names) {
      expect(await run(crane, ['digest', `${name}:${clone.version}`])).toBe(`${digests[name]}\n`)
    }
    const images = await listImages(published(), crane)
    expect(images.map(({ repository, architecture }) => `${repository}:${architecture}`)).toEqual(
      CPU_TARGETS.flatMap((target) => ARCHITECTURES.map((each) => `${address}/drape/${target}:${each}`)),
    )
    for (const target of CPU_TARGETS) for (const each of ARCHITECTURES) await printSizes(target, each)
  })

  async function printSizes(target: string, architecture: Architecture) {
    const folder = join(clone.folder, '.cache/release/images', target, architecture)
    const [{ size, layers }] = await readLayout(folder)
    const megabytes = [size, await measureUnpacked(folder, layers)].map((bytes) => Math.round(bytes / 1e6))
    console.log(`${target} for ${architecture}: ${megabytes[0]} MB sent, ${megabytes[1]} MB on a node`)
  }

  it('is the same bytes when another clone builds it later, elsewhere', { timeout: RELEASE_MS }, async () => {
    expect(await release(await cloneAgain(clone), '--dry-run')).toEqual(digests)
  })

  it('signs everything, and attests provenance and SBOMs with the packages of both', async () => {
    if (programs === null) return
    const images = await expectSigned(published(), { ...programs, keys })
    expect(images).toHaveLength(CPU_TARGETS.length * ARCHITECTURES.length)
    for (const { packages } of images) {
      expect(packages.map(({ name }) => name)).toEqual(expect.arrayContaining(['node', 'libc6', 'libstdc++6']))
    }
  })

  it('publishes charts that Helm pulls', async () => {
    const helm = await findHelm()
    for (const name of ['drape', 'drape-crds']) {
      const chart = `oci://${address}/drape/charts/${name}`
      const text = await run(helm, ['show', 'chart', chart, '--version', clone.version, '--plain-http'])
      expect(text).toContain(`name: ${name}\n`)
    }
  })

  describe.each(ARCHITECTURES)('for %s', (architecture) => {
    /** Of the images in the registry. */
    function openContainers(): Promise<Containers> {
      const opened = containers.get(architecture) ?? pullContainers()
      containers.set(architecture, opened)
      return opened
    }

    async function pullContainers(): Promise<Containers> {
      if (programs === null) throw new Error('there are no programs')
      const { path: storage } = await requestService('folder', null)
      const user: Builder = { command: 'buildah', options: storeIn(storage, 'overlay') }
      undo.defer(() => removeAll(user))
      const all = await listImages(published(), programs.crane)
      const pulled: { name: string; config: ImageConfig }[] = []
      for (const { repository, digest } of all.filter((image) => image.architecture === architecture)) {
        pulled.push(await pull(`${repository}@${digest}`, { user, crane: programs.crane }))
      }
      const [api, worker, controller] = pulled
      return createContainers({ api, worker, controller }, { builder: user, undo })
    }

    it.each(CPU_TARGETS)('contains programs and libraries of %s for this processor only', async (target) => {
      const { root } = (await openContainers())[target]
      const files = await findElfFiles(root)
      const wrong = files.filter((file) => !isFor(architecture, join(root, file)))
      expect(wrong).toEqual([])
      expect(files).toContain('usr/local/bin/node')
      for (const part of NATIVE[target]) expect(files.filter((file) => file.includes(part))).not.toEqual([])
    })

    it('completes a try-on', { timeout: EMULATION_MS }, async () => {
      const { url, ...result } = await completeTryOn(await openContainers(), { undo, limits: LIMITS })
      expect(result).toEqual({ migration: { applied: [] }, status: 'COMPLETED', contentType: 'image/jpeg' })
    })

    it('reaches the API of a cluster', { timeout: EMULATION_MS }, async () => {
      if (programs === null) return
      await reachCluster(await openContainers(), { controlPlane: programs.controlPlane, undo })
    })
  })
})

async function findPrograms() {
  const server = await findRegistryServer()
  const crane = await findReleaseProgram('crane')
  const cosign = await findReleaseProgram('cosign')
  const syft = await findReleaseProgram('syft')
  const controlPlane = await findSharedControlPlane()
  if (server === null || crane === null || cosign === null || syft === null || controlPlane === null) return null
  return { server, crane, cosign, controlPlane }
}

/** Uploads the base image for both platforms, and returns its name with the digest. */
async function publishBase(
  repository: string,
  { builder, crane }: { builder: Builder; crane: string },
): Promise<string> {
  const { path: folder } = await requestService('folder', null)
  const parts = ARCHITECTURES.map((architecture) => ({ architecture, folder: join(folder, architecture) }))
  for (const part of parts) await exportImage(await makeBaseImage(builder, part.architecture), part.folder, builder)
  const digest = await combineImages(join(folder, 'index'), { parts, annotations: {} })
  await run(crane, ['push', join(folder, 'index'), `${repository}@${digest}`])
  return `${repository}@${digest}`
}

/** Removes all images and containers of the builder. */
async function removeAll({ command, options = [] }: Builder): Promise<void> {
  await run(command, [...options, 'rm', '--all'])
  await run(command, [...options, 'rmi', '--all', '--force'])
}

async function pull(
  name: string,
  { user: { command, options = [] }, crane }: { user: Builder; crane: string },
): Promise<{ name: string; config: ImageConfig }> {
  await run(command, [...options, 'pull', '--quiet', '--tls-verify=false', name])
  return { name, config: JSON.parse(await run(crane, ['config', name])) }
}

/** Programs and libraries below the folder. */
async function findElfFiles(root: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await isElf(path))) found.push(relative(root, path))
  }
  return found
}

function isFor(architecture: Architecture, path: string): boolean {
  try {
    return readElf(path).cpu === CPUS[architecture]
  } catch {
    // Of a processor that the images are not built for.
    return false
  }
}

async function isElf(path: string): Promise<boolean> {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
  return buffer.toString('latin1') === '\x7fELF'
}
