import { expect } from 'vitest'
import { run } from '../../../scripts/stack/commands.ts'
import { type Keys, verifier } from './cosign.ts'

/** What a test knows of a release. */
export interface Published {
  readonly version: string
  /** The base image, with a digest. */
  readonly base: string
  /** Digests by repository. */
  readonly digests: Readonly<Record<string, string>>
}

/** An image for one platform. */
export interface PublishedImage {
  readonly repository: string
  readonly architecture: string
  /** Its own, not that of the index. */
  readonly digest: string
}

interface Programs {
  readonly crane: string
  readonly cosign: string
  readonly keys: Keys
}

type Packages = readonly { readonly name: string; readonly versionInfo?: string }[]

/** The images of the release, as its indexes in the registry list them. */
export async function listImages({ version, digests }: Published, crane: string): Promise<PublishedImage[]> {
  const images: PublishedImage[] = []
  for (const repository of Object.keys(digests).filter((name) => !name.includes('/charts/'))) {
    const { manifests } = JSON.parse(await run(crane, ['manifest', `${repository}:${version}`]))
    for (const { platform, digest } of manifests)
      images.push({ repository, architecture: platform.architecture, digest })
  }
  return images
}

/**
 * Expects that everything is signed, that everything published by name has a provenance with the base image, and each image an SBOM.
 * Returns the packages in the SBOM of each image.
 */
export async function expectSigned(
  published: Published,
  { crane, cosign, keys }: Programs,
): Promise<(PublishedImage & { packages: Packages })[]> {
  const { version, base, digests } = published
  const { verify, attestation } = verifier(cosign, keys)
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
  const images = await listImages(published, crane)
  const described: (PublishedImage & { packages: Packages })[] = []
  for (const image of images) {
    const reference = `${image.repository}@${image.digest}`
    await verify(reference)
    const { predicate } = await attestation(reference, 'spdxjson')
    const name = `drape/${image.repository.split('/').at(-1)}`
    expect(predicate).toMatchObject({ spdxVersion: expect.stringMatching(/^SPDX-2/), name })
    const { packages } = predicate as { packages: Packages }
    expect(packages).toContainEqual(expect.objectContaining({ name: 'drape', versionInfo: version }))
    described.push({ ...image, packages })
  }
  return described
}
