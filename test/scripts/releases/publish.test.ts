import { copyFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { describeProvenance } from '../../../scripts/releases/provenance.ts'
import { type Artifact, publish } from '../../../scripts/releases/publish.ts'
import { openRegistry, type Registry } from '../../../scripts/releases/registry.ts'
import { createSigner, type Signer } from '../../../scripts/releases/signer.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { codeOf, runCommands } from '../../support/documented-blocks.ts'
import { startFaultyProxy } from '../../support/faulty-proxy.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { requestService } from '../../support/request-service.ts'
import { createKeys, type Keys, verifier } from './cosign.ts'
import { findReleaseProgram, makeSmallRelease, writeProvenance } from './small-release.ts'

const server = await findRegistryServer()
const crane = await findReleaseProgram('crane')
const cosign = await findReleaseProgram('cosign')
const possible = server !== null && crane !== null && cosign !== null

describe.skipIf(!possible)('a release', () => {
  let registry: Registry
  let signer: Signer
  let keys: Keys

  beforeAll(async () => {
    registry = openRegistry(crane ?? '')
    keys = await createKeys(cosign ?? '')
    signer = createSigner({ cosign: cosign ?? '', key: keys.key, isLogged: false })
  })

  const makeRelease = async (address: string, text?: string) => {
    const { path } = await requestService('folder', null)
    const artifacts = await makeSmallRelease(path, { prefix: `${address}/drape`, text })
    return { version: '0.1.0', artifacts, provenance: await writeProvenance(path) }
  }
  const send = (release: Parameters<typeof publish>[0]) => publish(release, { registry, signer, say: () => {} })
  const refusing: Signer = {
    sign: () => Promise.reject(new Error('signed again')),
    attest: () => Promise.reject(new Error('attested again')),
  }
  const tagsOf = (artifacts: readonly Artifact[]) =>
    Promise.all(artifacts.map(({ repository }) => registry.findDigest(`${repository}:0.1.0`)))

  describe('in a registry', () => {
    let address = ''
    let release: Awaited<ReturnType<typeof makeRelease>>
    beforeAll(async () => {
      address = await startRegistryServer(server ?? '')
      release = await makeRelease(address)
      await send(release)
    })

    it('is tagged with its version and the built digests', async () => {
      expect(await tagsOf(release.artifacts)).toEqual(release.artifacts.map(({ digest }) => digest))
    })

    it('has signatures of the index, of each image and of the chart', async () => {
      const [api, chart] = release.artifacts
      const { verify } = verifier(cosign ?? '', keys)
      const signed = [api.digest, ...api.sboms.map(({ digest }) => digest)].map(
        (digest) => `${api.repository}@${digest}`,
      )
      expect(new Set(signed).size).toBe(3)
      for (const reference of [...signed, `${chart.repository}:0.1.0`]) await verify(reference)
      const other = verifier(cosign ?? '', await createKeys(cosign ?? ''))
      await expect(other.verify(signed[0])).rejects.toThrow(/signature/)
    })

    it('has provenance for images and chart', async () => {
      const { attestation } = verifier(cosign ?? '', keys)
      for (const { repository, digest } of release.artifacts) {
        const statement = await attestation(`${repository}:0.1.0`, 'slsaprovenance1')
        expect(statement).toMatchObject({
          _type: expect.stringMatching(/^https:\/\/in-toto\.io\/Statement\/v/),
          predicateType: 'https://slsa.dev/provenance/v1',
          subject: [{ digest: { sha256: digest.slice('sha256:'.length) } }],
          predicate: JSON.parse(await readFile(release.provenance, 'utf8')),
        })
      }
    })

    it('has an SBOM for each architecture', async () => {
      const { attestation } = verifier(cosign ?? '', keys)
      const [{ repository, sboms }] = release.artifacts
      for (const { digest } of sboms) {
        const { predicate } = await attestation(`${repository}@${digest}`, 'spdxjson')
        expect(predicate).toEqual({ spdxVersion: 'SPDX-2.3', packages: [{ name: digest }] })
      }
    })

    it('has a chart that Helm pulls and renders', async () => {
      const { path } = await requestService('folder', null)
      const chart = `oci://${address}/drape/charts/drape`
      const helm = await findHelm()
      await run(helm, ['pull', chart, '--version', '0.1.0', '--plain-http', '--destination', path])
      const text = await run(helm, ['template', 'drape', join(path, 'drape-0.1.0.tgz')])
      expect(text).toContain('kind: WorkerPool')
    })

    it('is verified by the commands of the documentation', async () => {
      const { path: folder } = await requestService('folder', null)
      await copyFile(keys.publicKey, join(folder, 'cosign.pub'))
      // The public log, which no test can write to, and TLS are missing.
      const programs = `cosign() { "$COSIGN" "$1" --insecure-ignore-tlog=true "\${@:2}"; }
        helm() { "$HELM" "$@" --plain-http; }`
      const commands = `${programs}\n${codeOf('docs/security.md', 'console')}`
      const placeholders = { 'registry.example': address, '0.2.0': '0.1.0' }
      const env = { ...process.env, COSIGN: cosign ?? '', HELM: await findHelm() }
      expect(await runCommands(commands, { folder, placeholders, env })).toContain(release.artifacts[0].digest)
      expect(await readdir(folder)).toContain('drape-0.1.0.tgz')
    })

    it('stays as it is when it is published again with equal contents', async () => {
      const said: string[] = []
      await publish(release, { registry, signer: refusing, say: (text) => said.push(text) })
      expect(said).toEqual(['0.1.0 is published already, with the same digests'])
    })

    it('is rejected when its version exists with different contents', async () => {
      const [other, chart] = (await makeRelease(address, 'changed')).artifacts
      const renamed = { ...chart, repository: `${chart.repository}-next` }
      await expect(send({ ...release, artifacts: [other, renamed] })).rejects.toThrow(
        `drape/api:0.1.0 exists already with other contents`,
      )
      const changed = { ...release.artifacts[1], digest: other.digest }
      await expect(send({ ...release, artifacts: [release.artifacts[0], changed] })).rejects.toThrow(
        /charts\/drape:0\.1\.0 exists already with other contents .*: releases are never replaced/,
      )
      expect(await tagsOf(release.artifacts)).toEqual(release.artifacts.map(({ digest }) => digest))
    })
  })

  it.each([
    ['an upload of an image', /^PUT \/v2\/drape\/api\/manifests\/sha256:/],
    ['an upload of the chart', /^POST \/v2\/drape\/charts\/drape\/blobs/],
    ['a signature', /^PUT \/v2\/drape\/charts\/drape\/manifests\/sha256-/],
  ])('has no tag when %s fails, and is complete after a retry', async (_what, request) => {
    const target = await startRegistryServer(server ?? '')
    await using line = await startFaultyProxy(`http://${target}`)
    const release = await makeRelease(new URL(line.url).host)
    line.fail(request, ...Array.from({ length: 20 }, () => ({ answer: 507 })))
    await expect(send(release)).rejects.toThrow('507')
    expect(await tagsOf(release.artifacts)).toEqual([undefined, undefined])
    line.setUp(true)
    await send(release)
    expect(await tagsOf(release.artifacts)).toEqual(release.artifacts.map(({ digest }) => digest))
    // Exactly one statement of each type, however far the first try came.
    const { attestation } = verifier(cosign ?? '', keys)
    for (const { repository, digest, sboms } of release.artifacts) {
      await attestation(`${repository}@${digest}`, 'slsaprovenance1')
      for (const sbom of sboms) await attestation(`${repository}@${sbom.digest}`, 'spdxjson')
    }
  })

  it('has no chart tag when the last tag fails, and is complete after a retry', async () => {
    const target = await startRegistryServer(server ?? '')
    await using line = await startFaultyProxy(`http://${target}`)
    const release = await makeRelease(new URL(line.url).host)
    line.fail(/^PUT .*charts\/drape\/manifests\/0\.1\.0$/, ...Array.from({ length: 20 }, () => ({ answer: 507 })))
    await expect(send(release)).rejects.toThrow('507')
    const [api, chart] = release.artifacts
    expect(await tagsOf(release.artifacts)).toEqual([api.digest, undefined])
    line.setUp(true)
    await send(release)
    expect(await tagsOf([chart])).toEqual([chart.digest])
  })

  it('is not published when the registry denies reading its tags', async () => {
    const target = await startRegistryServer(server ?? '')
    await using line = await startFaultyProxy(`http://${target}`)
    const release = await makeRelease(new URL(line.url).host)
    line.fail(/manifests\/0\.1\.0$/, ...Array.from({ length: 20 }, () => ({ answer: 403 })))
    await expect(send(release)).rejects.toThrow('403')
    expect(line.seen('PUT')).toEqual([])
    expect(line.seen('POST')).toEqual([])
  })
})

describe('provenance', () => {
  const source = {
    version: '1.2.0',
    commit: 'c0ffee',
    repository: 'https://git.example/drape',
    notes: '',
    lockFile: 'abc',
  }
  const describeIn = (env: NodeJS.ProcessEnv) =>
    describeProvenance({
      source,
      bases: ['docker.io/library/node:24@sha256:123'],
      startedAt: new Date(0),
      finishedAt: new Date(1),
      env,
    })

  it('lists commit, packages and base images', () => {
    expect(describeIn({})).toMatchObject({
      buildDefinition: {
        externalParameters: { repository: 'https://git.example/drape', version: '1.2.0' },
        resolvedDependencies: [
          { uri: 'git+https://git.example/drape', digest: { gitCommit: 'c0ffee' } },
          { uri: 'package-lock.json', digest: { sha256: 'abc' } },
          { uri: 'docker://docker.io/library/node:24@sha256:123', digest: { sha256: '123' } },
        ],
      },
      runDetails: { builder: { id: 'https://drape.dev/release/v1/own-machine' } },
    })
  })

  it('identifies the GitHub or GitLab run', () => {
    const github = {
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'shop/drape',
      GITHUB_WORKFLOW_REF: 'shop/drape/.github/workflows/release.yml@refs/tags/v1.2.0',
      GITHUB_RUN_ID: '7',
    }
    expect(describeIn(github)).toMatchObject({
      runDetails: {
        builder: { id: 'https://github.com/shop/drape/.github/workflows/release.yml@refs/tags/v1.2.0' },
        metadata: { invocationId: 'https://github.com/shop/drape/actions/runs/7' },
      },
    })
    const gitlab = {
      CI_PROJECT_URL: 'https://gitlab.example/drape',
      CI_JOB_URL: 'https://gitlab.example/drape/-/jobs/7',
    }
    expect(describeIn(gitlab)).toMatchObject({
      runDetails: {
        builder: { id: 'https://gitlab.example/drape/.gitlab-ci.yml' },
        metadata: { invocationId: 'https://gitlab.example/drape/-/jobs/7' },
      },
    })
  })
})
