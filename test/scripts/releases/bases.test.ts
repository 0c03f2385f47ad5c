import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pinBases } from '../../../scripts/releases/bases.ts'
import { openRegistry } from '../../../scripts/releases/registry.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { requestService } from '../../support/request-service.ts'
import { findReleaseProgram, makeSmallRelease } from './small-release.ts'

const server = await findRegistryServer()
const crane = await findReleaseProgram('crane')

describe.skipIf(server === null || crane === null)('the base images of a release', () => {
  const registry = openRegistry(crane ?? '')
  const pin = (env: Record<string, string>, targets: readonly ('api' | 'worker-cuda')[] = ['api']) =>
    pinBases(targets, { root: ROOT, registry, env })

  it('are pinned by digest, the builder to the platform of this machine', async () => {
    const address = await startRegistryServer(server ?? '')
    const { path } = await requestService('folder', null)
    const [image] = await makeSmallRelease(path, { prefix: address })
    await registry.push(image.folder, `${image.repository}@${image.digest}`)
    await registry.tag(`${image.repository}@${image.digest}`, '24')
    const own = image.sboms[process.arch === 'x64' ? 0 : 1].digest
    const python = `docker.io/library/python@sha256:${'1'.repeat(64)}`
    for (const name of [`${image.repository}:24`, `${image.repository}:24@${image.digest}`]) {
      const pinned = [
        { parameter: 'BASE', image: `${image.repository}:24@${image.digest}` },
        { parameter: 'BUILDER', image: `${image.repository}:24@${own}` },
      ]
      expect(await pin({ BASE: name })).toEqual(pinned)
      expect(await pin({ BASE: name, PYTHON: python }, ['worker-cuda'])).toEqual([
        ...pinned,
        { parameter: 'PYTHON', image: python },
      ])
    }
  })

  it('are rejected when the tag does not exist or the registry is unreachable', async () => {
    const address = await startRegistryServer(server ?? '')
    await expect(pin({ BASE: `${address}/node:24` })).rejects.toThrow(
      `The base image ${address}/node:24 does not exist`,
    )
    await expect(pin({ BASE: '127.0.0.1:9/node:24' })).rejects.toThrow('connection refused')
  })

  it('are the only external images in the Containerfile', () => {
    const containerfile = readFileSync(resolve(ROOT, 'Containerfile'), 'utf8')
    const origins = [...containerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, name]) => name)
    expect(new Set(origins)).toEqual(new Set([`\${BASE}`, `\${BUILDER}`, `\${PYTHON}`, 'scratch', 'runtime', 'worker']))
  })
})
