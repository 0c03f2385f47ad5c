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
 * Whether all tags of the version lead to the artifacts. An interrupted call has set none or some of them.
 * @throws Error if a tag leads to other contents, or the registry does not answer where it leads.
 */
export async function checkPublished({ version, artifacts }: Release, registry: Registry): Promise<boolean> {
  const found = await Promise.all(artifacts.map(({ repository }) => registry.findDigest(`${repository}:${version}`)))
  for (const [index, { repository, digest }] of artifacts.entries()) {
    if (found[index] === undefined || found[index] === digest) continue
    const difference = `${found[index]}, not ${digest}`
    throw new Error(
      `${repository}:${version} exists already with other contents (${difference}): releases are never replaced`,
    )
  }
  return !found.includes(undefined)
}

/**
 * Uploads, signs and attests every artifact under its digest, then sets the tags: a failure before that leaves nothing that users
 * can find by the version, and the same call continues after a failure. A published release stays as it is.
 */
export async function publish(
  release: Release,
  { registry, signer, say }: { registry: Registry; signer: Signer; say: (text: string) => void },
): Promise<void> {
  const { version, artifacts, provenance } = release
  if (await checkPublished(release, registry)) return say(`${version} is published already, with the same digests`)
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
  await checkPublished(release, registry)
  // LAST: everything that a tag leads to is complete, and the last tag makes the release visible.
  for (const { repository, digest } of artifacts) await registry.tag(`${repository}@${digest}`, version)
}
