import { appendFile, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { failUnlessAllowed, reasonWithout } from '../../support/missing.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { requestService } from '../../support/request-service.ts'
import { createKeys, type Keys, verifier } from './cosign.ts'
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
  let clone: string
  let folder: string
  let address: string
  let keys: Keys
  let base: string
  let version: string
  let digests: Readonly<Record<string, string>>

  beforeAll(async () => {
    folder = (await requestService('folder', null)).path
    clone = join(folder, 'clone')
    address = await startRegistryServer(server ?? '')
    keys = await createKeys(cosign ?? '')
    const [image] = await makeSmallRelease(join(folder, 'base'), { prefix: address })
    base = `${address}/base@${image.digest}`
    await run(crane ?? '', ['push', image.folder, base])
    version = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).version
    await copyClone(clone)
    await writeFile(join(clone, 'Containerfile'), CONTAINERFILE)
    await writeFile(join(clone, 'CHANGELOG.md'), '# Changelog\n\n- A small image\n')
    await git('init', '--quiet')
    await commit()
  })

  const git = (...args: string[]) => run('git', args, { cwd: clone })
  const commit = async () => {
    await git('add', '--all')
    await git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'commit', '--quiet', '--message=test')
  }
  /** Runs the command; returns the digests by repository. */
  const release = async (...options: string[]) => {
    const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
    const args = [
      ...['--registry', `${address}/drape`, '--key', keys.key, '--no-log'],
      ...['worker', 'worker-cuda', 'controller'].map((target) => `--without=${target}`),
      ...storage.map((option) => `--builder-option=${option}`),
      '--build-option=--tls-verify=false',
    ]
    const env = { ...process.env, BASE: base }
    const lines = (await run(join(clone, 'scripts/release'), [...args, ...options], { cwd: folder, env })).trim()
    return Object.fromEntries(lines.split('\n').map((line) => line.split('@'))) as Record<string, string>
  }
  const findTags = async () => {
    const { repositories } = (await (await fetch(`http://${address}/v2/_catalog`)).json()) as { repositories: string[] }
    const released = repositories.filter((name) => name !== 'base')
    const digest = (name: string) => run(crane ?? '', ['digest', `${address}/${name}:${version}`])
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
    const [, line, named, day] = /insert the line "(## (\S+) \((\S+)\))" above the changes/.exec(message) ?? []
    expect(named, message).toBe(version)
    expect(days).toContain(day)
    await writeFile(join(clone, 'CHANGELOG.md'), `# Changelog\n\n${line}\n\n- A small image\n`)
    await commit()
  })

  it('uploads nothing in a dry run', async () => {
    digests = await release('--dry-run')
    expect(Object.keys(digests)).toEqual(['api', 'charts/drape-crds', 'charts/drape'].map(repository))
    expect(await findTags()).toEqual({})
  })

  it('publishes images for amd64 and arm64 and the charts, with the digests of every other build', async () => {
    expect(await release('--verify')).toEqual(digests)
    expect(await findTags()).toEqual(digests)
    const index = JSON.parse(await run(crane ?? '', ['manifest', `${repository('api')}:${version}`]))
    expect(index).toMatchObject({
      manifests: [{ platform: { architecture: 'amd64' } }, { platform: { architecture: 'arm64' } }],
      annotations: { 'org.opencontainers.image.revision': (await git('rev-parse', 'HEAD')).trim() },
    })
    for (const { platform, digest } of index.manifests) {
      const text = await run(crane ?? '', ['export', `${repository('api')}@${digest}`, '-'])
      // Of the base for this architecture, and of the build.
      expect(text).toContain(`// ${platform.architecture}`)
      expect(text).toContain('Apache License')
    }
    expect(await readFile(join(clone, '.cache/release/notes.md'), 'utf8')).toBe('- A small image\n')
  })

  it('signs everything, and attests provenance and SBOMs', async () => {
    const { verify, attestation } = verifier(cosign ?? '', keys)
    for (const [name, digest] of Object.entries(digests)) {
      await verify(`${name}:${version}`)
      const { predicate } = await attestation(`${name}@${digest}`, 'slsaprovenance1')
      expect(predicate).toMatchObject({
        buildDefinition: {
          externalParameters: { version },
          resolvedDependencies: expect.arrayContaining([
            { uri: `docker://${base}`, digest: { sha256: base.split(':').at(-1) } },
          ]),
        },
      })
    }
    const { manifests } = JSON.parse(await run(crane ?? '', ['manifest', `${repository('api')}:${version}`]))
    for (const { digest } of manifests) {
      await verify(`${repository('api')}@${digest}`)
      const { predicate } = await attestation(`${repository('api')}@${digest}`, 'spdxjson')
      expect(predicate).toMatchObject({ spdxVersion: expect.stringMatching(/^SPDX-2/), name: 'drape/api' })
      const { packages } = predicate as { packages: readonly { name: string; versionInfo?: string }[] }
      expect(packages).toContainEqual(expect.objectContaining({ name: 'drape', versionInfo: version }))
    }
  })

  it('publishes charts that Helm pulls', async () => {
    const chart = `oci://${repository('charts/drape')}`
    const helm = await findHelm()
    expect(await run(helm, ['show', 'chart', chart, '--version', version, '--plain-http'])).toContain('name: drape')
  })

  it('succeeds again, and changes nothing', async () => {
    expect(await release()).toEqual(digests)
    expect(await findTags()).toEqual(digests)
  })

  it('refuses other contents under the same version', async () => {
    await appendFile(join(clone, 'LICENSE'), '\n')
    await expect(release()).rejects.toThrow('Commit or remove these files first')
    await commit()
    await expect(release()).rejects.toThrow(`${repository('api')}:${version} exists already with other contents`)
    expect(await findTags()).toEqual(digests)
  })
})

/** Copies the files of the working tree that the command needs, with their packages. */
async function copyClone(to: string): Promise<void> {
  const listed = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: ROOT })
  const files = listed.split('\0').filter((file) => file !== '' && (!file.includes('/') || isNeeded(file)))
  for (const file of files) {
    await mkdir(dirname(join(to, file)), { recursive: true })
    await cp(join(ROOT, file), join(to, file)).catch(ignoreDeleted)
  }
  await symlink(join(ROOT, 'node_modules'), join(to, 'node_modules'))
}

function isNeeded(file: string): boolean {
  return NEEDED.some((folder) => file.startsWith(`${folder}/`))
}

function ignoreDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
