import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeBundle } from '../../../scripts/bundle/bundle.ts'
import { listImages } from '../../../scripts/charts/images.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { commandsOf, runCommands } from '../../support/documented-blocks.ts'
import { reasonWithout } from '../../support/missing.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { requestService } from '../../support/request-service.ts'
import { builderEnvironment, findImageBuilder } from './images.ts'

const PAGE = 'charts/drape/docs/air-gap.md'
const HEADING = 'Air-gapped clusters'
const MANIFESTS = 'application/vnd.oci.image.manifest.v1+json'
const LONG = process.env.LONG_TESTS === '1'
const builder = LONG ? await findImageBuilder() : null
const registry = builder === null ? null : await findRegistryServer()

describe.skipIf(builder === null || registry === null)('an air-gapped bundle', () => {
  const bundle = { folder: '', lines: [] as string[] }

  beforeAll(async () => {
    if (builder === null) return
    await reasonWithout('skopeo')
    const { path: folder } = await requestService('folder', null)
    bundle.folder = join(folder, 'bundle')
    // No registry is asked here, and these are what only a registry has.
    const all = await listImages(join(ROOT, 'charts/drape'))
    const without = all.filter((name) => !/^drape\/(api|worker|controller):/.test(name))
    const output = await runCommands(commandsOf(PAGE, HEADING), {
      folder,
      placeholders: { '--without drape/worker-cuda:0.1.0': without.map((name) => `--without ${name}`).join(' ') },
      env: await builderEnvironment(builder),
    })
    bundle.lines = output.split('\n').filter((line) => / sha256:/.test(line))
  }, 900_000)

  it('lists images and weights with their digests', () => {
    expect(bundle.lines.map((line) => line.replace(/:\S+ sha256:[0-9a-f]{64}$/, '')).sort()).toEqual([
      'drape/api',
      'drape/controller',
      'drape/weights',
      'drape/worker',
    ])
  })

  it('contains the charts', () => {
    for (const name of ['drape-0.1.0.tgz', 'drape-crds-0.1.0.tgz'])
      expect(existsSync(join(bundle.folder, name))).toBe(true)
  })

  it('is copied into a registry with the listed digests', {
    timeout: 300_000,
  }, async () => {
    const address = await startRegistryServer(registry ?? '')
    const placeholders = { 'registry.internal.example': `${address} --dest-tls-verify=false` }
    await runCommands(commandsOf(PAGE, HEADING, 1), { folder: bundle.folder, placeholders })
    for (const line of bundle.lines) {
      const [name, digest] = line.split(' ')
      const [repository, tag] = name.split(':')
      const answer = await fetch(`http://${address}/v2/${repository}/manifests/${tag}`, {
        headers: { accept: MANIFESTS },
      })
      expect(`${answer.status} ${answer.headers.get('docker-content-digest')}`, name).toBe(`200 ${digest}`)
    }
  })

  it('is rejected by its own script when a file was changed', async () => {
    const path = join(bundle.folder, 'drape-crds-0.1.0.tgz')
    const before = await readFile(path)
    await writeFile(path, 'other')
    await expect(run(join(bundle.folder, 'mirror'), ['127.0.0.1:1'])).rejects.toThrow('drape-crds-0.1.0.tgz: FAILED')
    await writeFile(path, before)
  })

  it('is not written into a folder that is not empty', async () => {
    if (builder === null) return
    await expect(makeBundle(bundle.folder, { builder, without: [] })).rejects.toThrow('is not empty')
  })
})
