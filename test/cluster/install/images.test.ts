import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportImage } from '../../../scripts/container/build.ts'
import { measureUnpacked, readLayout, type StoredImage } from '../../../scripts/container/layout.ts'
import { requestService } from '../../support/request-service.ts'
import { findSharedControlPlane } from '../shared-control-plane.ts'
import type { Container } from './container.ts'
import { buildImages, CPU_TARGETS, findImageBuilder, rebuildImages } from './images.ts'
import { type Containers, completeTryOn, createContainers, reachCluster } from './running-images.ts'

const builder = await findImageBuilder()
const controlPlane = await findSharedControlPlane()
const LONG = process.env.LONG_TESTS === '1'
const MEGABYTE = 1_000_000
const BUILD_MS = 900_000

describe.skipIf(builder === null)('the images', () => {
  const layout = { folder: '', images: {} as Record<(typeof CPU_TARGETS)[number], StoredImage> }
  const undo = new AsyncDisposableStack()

  beforeAll(async () => {
    if (builder === null) return
    const names = await buildImages(builder)
    layout.folder = (await requestService('folder', null)).path
    for (const target of CPU_TARGETS) await exportImage(names[target], layout.folder, builder)
    const [api, worker, controller] = await readLayout(layout.folder)
    layout.images = { api, worker, controller }
  }, BUILD_MS)
  afterAll(() => undo.disposeAsync())

  it.each([
    ['api', 250],
    ['worker', 450],
    ['controller', 250],
  ] as const)('of %s weighs less than %i MB on a node', async (target, limit) => {
    const { name, size, layers } = layout.images[target]
    const unpacked = await measureUnpacked(layout.folder, layers)
    console.log(`${name}: ${Math.round(size / MEGABYTE)} MB sent, ${Math.round(unpacked / MEGABYTE)} MB on a node`)
    expect(unpacked / MEGABYTE).toBeLessThan(limit)
  })

  it('run as a numeric user other than root', () => {
    const users = Object.values(layout.images).map(({ config }) => config.config.User)
    expect(users).toEqual(['65532:65532', '65532:65532', '65532:65532'])
  })

  it('share the layer of Node', () => {
    const first = Object.values(layout.images).map(({ layers }) => layers[0].digest)
    expect(new Set(first).size).toBe(1)
  })

  it('contain no shell, no package manager and no other programs', async () => {
    const { api, worker, controller } = await open()
    for (const { root } of [api, worker, controller])
      expect(await readdir(join(root, 'usr/local/bin'))).toEqual(['node'])
    for (const { root } of [api, worker, controller])
      expect(await readdir(join(root, 'usr'))).toEqual(['local', 'share'])
    const packages = ({ root }: Container) => readdir(join(root, 'drape/node_modules'))
    expect(await packages(api)).not.toContain('onnxruntime-node')
    expect(await packages(api)).not.toContain('@kubernetes')
    expect(await packages(worker)).not.toContain('koa')
    expect(await packages(controller)).not.toContain('sharp')
    expect(await readdir(join(worker.root, 'drape'))).toEqual(['api', 'node_modules', 'package.json', 'worker'])
  })

  it('complete a try-on with a read-only file system and without capabilities', async () => {
    const { url, ...result } = await completeTryOn(await open(), { undo })
    expect(result).toEqual({ migration: { applied: [] }, status: 'COMPLETED', contentType: 'image/jpeg' })
    expect((await fetch(`${url}/docs`)).status).toBe(200)
  })

  it.each([
    ['simulate', '--policy', 'policy.yaml'],
    ['engine', 'card', 'warp'],
  ])('report that %s belongs to a clone', async (...words) => {
    const { api } = await open()
    const process = await api.start({ command: ['node', 'scripts/drape.ts', ...words], env: {} })
    expect(await process.ended).not.toBe(0)
    expect(process.output()).toContain('run it in a clone')
  })

  it.skipIf(controlPlane === null)('reach the API of a cluster', async () => {
    if (controlPlane !== null) await reachCluster(await open(), { controlPlane, undo })
  })

  it.runIf(LONG)(
    'are the same bytes whenever they are built',
    async () => {
      if (builder === null) return
      const digests = Object.values(layout.images).map(({ digest }) => digest)
      const again = (await requestService('folder', null)).path
      const names = await rebuildImages(builder)
      for (const target of CPU_TARGETS) await exportImage(names[target], again, builder)
      expect((await readLayout(again)).map(({ digest }) => digest)).toEqual(digests)
    },
    BUILD_MS,
  )

  const opened = { containers: undefined as Promise<Containers> | undefined }

  function open() {
    if (builder === null) throw new Error('there is no builder')
    opened.containers ??= createContainers(layout.images, { builder, undo })
    return opened.containers
  }
})
