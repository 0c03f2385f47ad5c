import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../../scripts/stack/commands.ts'
import { findSharedControlPlane } from '../shared-control-plane.ts'
import { buildImages, findImageBuilder } from './images.ts'
import { type Containers, completeTryOn, createContainers, reachCluster } from './running-images.ts'

const builder = await findImageBuilder()
const controlPlane = await findSharedControlPlane()
const BUILD_MS = 900_000

describe.skipIf(builder === null)('the images', () => {
  const undo = new AsyncDisposableStack()
  let images: Containers

  beforeAll(async () => {
    if (builder !== null) images = await createContainers(await buildImages(builder), { builder, undo })
  }, BUILD_MS)
  afterAll(() => undo.disposeAsync())

  it.each([
    ['api', 200],
    ['worker', 310],
    ['controller', 200],
  ] as const)('of %s add less than %i MB to their base and Node', async (target, limit) => {
    const folder = join(images[target].root, 'drape')
    const [size] = (await run('du', ['--summarize', '--apparent-size', '--block-size=1MB', folder])).split('\t')
    console.log(`${target}: ${size} MB`)
    expect(Number(size)).toBeLessThan(limit)
  })

  it('run as a numeric user other than root', () => {
    const { api, worker, controller } = images
    expect([api, worker, controller].map(({ user }) => user)).toEqual(Array(3).fill('65532:65532'))
  })

  it('contain no packages of development, and the libraries of models only for workers', async () => {
    const { api, worker, controller } = images
    const packages = {
      api: await packagesOf(api),
      worker: await packagesOf(worker),
      controller: await packagesOf(controller),
    }
    for (const names of Object.values(packages))
      for (const name of ['typescript', 'vitest', '@biomejs']) expect(names).not.toContain(name)
    expect(packages.worker).toContain('onnxruntime-node')
    expect([...packages.api, ...packages.controller]).not.toContain('onnxruntime-node')
  })

  it('complete a try-on with a read-only file system and without capabilities', async () => {
    const { url, ...result } = await completeTryOn(images, { undo })
    expect(result).toEqual({ migration: { applied: [] }, status: 'COMPLETED', contentType: 'image/jpeg' })
    expect((await fetch(`${url}/docs`)).status).toBe(200)
  })

  it.skipIf(controlPlane === null)('reach the API of a cluster', async () => {
    if (controlPlane !== null) await reachCluster(images, { controlPlane, undo })
  })
})

function packagesOf({ root }: { root: string }): Promise<string[]> {
  return readdir(join(root, 'drape/node_modules'))
}
