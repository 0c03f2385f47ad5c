import type { Registry } from './registry.ts'
import type { Signer } from './signer.ts'

/** An image or chart, complete on this machine. */
export interface Artifact {
  /** With the registry, without tag, such as registry.example/drape/api. */
  readonly repository: string
  readonly digest: string
  /** In OCI layout. */
  readonly folder: string
  readonly sboms: readonly Sbom[]
}

/** SBOM of an image for one architecture. */
export interface Sbom {
  readonly digest: string
  readonly path: string
}

interface Release {
  readonly version: string
  /** The last one is the artifact by which users find the release. */
  readonly artifacts: readonly Artifact[]
  /** File with the predicate of SLSA provenance. */
  readonly provenance: string
}

/**
 * Asserts that the release can be published: its version does not exist, or an interrupted call has published a part with the
 * same digests.
 * @throws Error if the version exists, or the registry does not answer whether the version exists.
 */
export async function assertUnpublished({ version, artifacts }: Release, registry: Registry): Promise<void> {
  const found = await Promise.all(artifacts.map(({ repository }) => registry.findDigest(`${repository}:${version}`)))
  const last = artifacts.length - 1
  if (found[last] !== undefined) {
    throw new Error(`${artifacts[last].repository}:${version} exists already: releases are never replaced`)
  }
  for (const [index, { repository, digest }] of artifacts.entries()) {
    if (found[index] !== undefined && found[index] !== digest) {
      throw new Error(`${repository}:${version} exists already with other contents (${found[index]}, not ${digest})`)
    }
  }
}

/**
 * Uploads, signs and attests every artifact under its digest, then sets the tags: a failure before that leaves nothing that users
 * can find by the version, and the same call continues after a failure.
 */
export async function publish(
  release: Release,
  { registry, signer, say }: { registry: Registry; signer: Signer; say: (text: string) => void },
): Promise<void> {
  const { version, artifacts, provenance } = release
  await assertUnpublished(release, registry)
  for (const { repository, digest, folder } of artifacts) {
    say(`uploads ${repository}@${digest}`)
    await registry.push(folder, `${repository}@${digest}`)
  }
  for (const { repository, digest, sboms } of artifacts) {
    say(`signs ${repository}@${digest}`)
    await signer.sign(`${repository}@${digest}`)
    await signer.attest(`${repository}@${digest}`, { type: 'slsaprovenance1', predicate: provenance })
    for (const sbom of sboms) {
      await signer.attest(`${repository}@${sbom.digest}`, { type: 'spdxjson', predicate: sbom.path })
    }
  }
  // Another release may have been published meanwhile.
  await assertUnpublished(release, registry)
  // LAST: everything that a tag leads to is complete, and the last tag makes the release visible.
  for (const { repository, digest } of artifacts) await registry.tag(`${repository}@${digest}`, version)
}
