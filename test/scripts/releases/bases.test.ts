import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pinBases } from '../../../scripts/releases/bases.ts'
import { openRegistry } from '../../../scripts/releases/registry.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { findReleaseProgram } from './small-release.ts'

const server = await findRegistryServer()
const crane = await findReleaseProgram('crane')

describe.skipIf(server === null || crane === null)('the base images of a release', () => {
  const registry = openRegistry(crane ?? '')
  const pin = (env: Record<string, string>, targets: readonly ('api' | 'worker-cuda')[] = ['api']) =>
    pinBases(targets, { root: ROOT, registry, env })

  it('stay what they are where a digest names them', async () => {
    const image = `docker.io/library/node@sha256:${'0'.repeat(64)}`
    expect(await pin({ BASE: image })).toEqual([{ parameter: 'BASE', image }])
    const python = `docker.io/library/python@sha256:${'1'.repeat(64)}`
    expect(await pin({ BASE: image, PYTHON: python }, ['worker-cuda'])).toEqual([
      { parameter: 'BASE', image },
      { parameter: 'PYTHON', image: python },
    ])
  })

  it('are refused where the registry does not know the tag, or cannot be asked', async () => {
    const address = await startRegistryServer(server ?? '')
    await expect(pin({ BASE: `${address}/node:24` })).rejects.toThrow(
      `The base image ${address}/node:24 does not exist`,
    )
    await expect(pin({ BASE: '127.0.0.1:9/node:24' })).rejects.toThrow('connection refused')
  })

  it('are all that the Containerfile takes from elsewhere', () => {
    const containerfile = readFileSync(resolve(ROOT, 'Containerfile'), 'utf8')
    const origins = [...containerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, name]) => name)
    expect(new Set(origins)).toEqual(new Set([`\${BASE}`, `\${PYTHON}`, 'scratch', 'runtime', 'worker']))
  })
})
