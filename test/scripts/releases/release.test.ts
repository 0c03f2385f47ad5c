import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { failUnlessAllowed, reasonWithout } from '../../support/missing.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { requestService } from '../../support/request-service.ts'
import { createKeys, type Keys } from './cosign.ts'
import { expectSigned } from './expect-signed.ts'
import { createClone, type ReleaseClone } from './release-clone.ts'
import { findReleaseProgram, makeSmallRelease } from './small-release.ts'

const server = await findRegistryServer()
const crane = await findReleaseProgram('crane')
const cosign = await findReleaseProgram('cosign')
const syft = await findReleaseProgram('syft')
const noBuilder =
  process.getuid?.() === 0 ? await reasonWithout('buildah') : failUnlessAllowed('Only root can build container images.')
const possible = server !== null && crane !== null && cosign !== null && syft !== null && noBuilder === ''

/** What the command needs of the clone, besides the packages. */
const NEEDED = ['scripts', 'charts', 'crds', 'controller', 'api', 'docs']
/** A small image in place of the real ones: files of the base image for its platform, and a few of this repository. */
const CONTAINERFILE = `ARG BASE=localhost/missing
FROM \${BASE} AS base
FROM scratch AS api
COPY --from=base / /
COPY package.json /drape/package.json
COPY LICENSE /drape/LICENSE
`

describe.skipIf(!possible)('scripts/release', () => {
  let clone: ReleaseClone
  let folder: string
  let address: string
  let keys: Keys
  let base: string
  let digests: Readonly<Record<string, string>>

  beforeAll(async () => {
    folder = (await requestService('folder', null)).path
    address = await startRegistryServer(server ?? '')
    keys = await createKeys(cosign ?? '')
    const [image] = await makeSmallRelease(join(folder, 'base'), { prefix: address })
    base = `${address}/base@${image.digest}`
    await run(crane ?? '', ['push', image.folder, base])
    clone = await createClone(NEEDED)
    await writeFile(join(clone.folder, 'Containerfile'), CONTAINERFILE)
    await writeFile(join(clone.folder, 'CHANGELOG.md'), '# Changelog\n\n- A small image\n')
    await clone.commit()
  })

  /** Runs the command; returns the digests by repository. */
  const release = (...options: string[]) => {
    const without = ['worker', 'worker-cuda', 'controller'].map((target) => `--without=${target}`)
    const settings = { address, key: keys.key, base, storage: folder, driver: 'vfs' } as const
    return clone.release(settings, ...without, ...options)
  }
  const findTags = async () => {
    const { repositories } = (await (await fetch(`http://${address}/v2/_catalog`)).json()) as { repositories: string[] }
    const released = repositories.filter((name) => name !== 'base')
    const digest = (name: string) => run(crane ?? '', ['digest', `${address}/${name}:${clone.version}`])
    return Object.fromEntries(
      await Promise.all(released.map(async (name) => [`${address}/${name}`, (await digest(name)).trim()])),
    )
  }
  const repository = (name: string) => `${address}/drape/${name}`

  it('says which line the changelog needs', async () => {
    const today = () => new Date().toISOString().slice(0, 10)
    // The command may run across midnight.
    const days = [today()]
    const { message } = await release().catch((error: Error) => error as Error)
    days.push(today())
    const [, line, version, day] = /insert the line "(## (\S+) \((\S+)\))" above the changes/.exec(message) ?? []
    expect(version, message).toBe(clone.version)
    expect(days).toContain(day)
    await writeFile(join(clone.folder, 'CHANGELOG.md'), `# Changelog\n\n${line}\n\n- A small image\n`)
    await clone.commit()
  })

  it('uploads nothing in a dry run', async () => {
    digests = await release('--dry-run')
    expect(Object.keys(digests)).toEqual(['api', 'charts/drape-crds', 'charts/drape'].map(repository))
    expect(await findTags()).toEqual({})
  })

  it('publishes images for amd64 and arm64 and the charts, with the digests of every other build', async () => {
    expect(await release('--verify')).toEqual(digests)
    expect(await findTags()).toEqual(digests)
    const index = JSON.parse(await run(crane ?? '', ['manifest', `${repository('api')}:${clone.version}`]))
    expect(index).toMatchObject({
      manifests: [{ platform: { architecture: 'amd64' } }, { platform: { architecture: 'arm64' } }],
      annotations: { 'org.opencontainers.image.revision': (await clone.git('rev-parse', 'HEAD')).trim() },
    })
    for (const { platform, digest } of index.manifests) {
      const text = await run(crane ?? '', ['export', `${repository('api')}@${digest}`, '-'])
      // Of the base for this architecture, and of the build.
      expect(text).toContain(`// ${platform.architecture}`)
      expect(text).toContain('Apache License')
    }
    expect(await readFile(join(clone.folder, '.cache/release/notes.md'), 'utf8')).toBe('- A small image\n')
  })

  it('signs everything, and attests provenance and SBOMs', async () => {
    const published = { version: clone.version, base, digests }
    const images = await expectSigned(published, { crane: crane ?? '', cosign: cosign ?? '', keys })
    expect(images.map(({ architecture }) => architecture)).toEqual(['amd64', 'arm64'])
  })

  it('publishes charts that Helm pulls', async () => {
    const chart = `oci://${repository('charts/drape')}`
    const helm = await findHelm()
    expect(await run(helm, ['show', 'chart', chart, '--version', clone.version, '--plain-http'])).toContain(
      'name: drape',
    )
  })

  it('succeeds again, and changes nothing', async () => {
    expect(await release()).toEqual(digests)
    expect(await findTags()).toEqual(digests)
  })

  it('refuses other contents under the same version', async () => {
    await appendFile(join(clone.folder, 'LICENSE'), '\n')
    await expect(release()).rejects.toThrow('Commit or remove these files first')
    await clone.commit()
    await expect(release()).rejects.toThrow(`${repository('api')}:${clone.version} exists already with other contents`)
    expect(await findTags()).toEqual(digests)
  })
})
