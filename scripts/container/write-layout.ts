import { createHash } from 'node:crypto'
import { link, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'
const NAME = 'org.opencontainers.image.ref.name'

/** Reference to a blob. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly os: string; readonly architecture: string }
  readonly annotations?: Readonly<Record<string, string>>
}

/** Stores the bytes in the folder in OCI layout. */
export async function writeBlob(folder: string, mediaType: string, bytes: Buffer): Promise<Descriptor> {
  const digest = createHash('sha256').update(bytes).digest('hex')
  await mkdir(join(folder, 'blobs/sha256'), { recursive: true })
  await writeFile(join(folder, 'blobs/sha256', digest), bytes)
  return { mediaType, digest: `sha256:${digest}`, size: bytes.length }
}

/** Stores the manifest of an artifact, which becomes the only one of the folder; returns its digest. */
export async function writeManifest(
  folder: string,
  { manifest, name }: { manifest: object; name?: string },
): Promise<string> {
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, ...manifest }))
  return writeRoot(folder, { root: await writeBlob(folder, MANIFEST, bytes), name })
}

/**
 * Combines images, each in a folder of its own in OCI layout, into one for several platforms in `folder`; returns its digest.
 * Files are linked, not copied.
 */
export async function combineImages(
  folder: string,
  { parts, annotations }: { parts: readonly ImagePart[]; annotations: Readonly<Record<string, string>> },
): Promise<string> {
  const manifests: Descriptor[] = []
  await mkdir(join(folder, 'blobs/sha256'), { recursive: true })
  for (const { folder: from, architecture } of parts) {
    const [{ mediaType, digest, size }] = JSON.parse(await readFile(join(from, 'index.json'), 'utf8')).manifests
    const { config, layers } = JSON.parse(await readFile(blobPath(from, digest), 'utf8'))
    for (const blob of [digest, config.digest, ...layers.map((layer: Descriptor) => layer.digest)]) {
      await link(blobPath(from, blob), blobPath(folder, blob)).catch(ignoreExisting)
    }
    manifests.push({ mediaType, digest, size, platform: { os: 'linux', architecture } })
  }
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests, annotations }))
  return writeRoot(folder, { root: await writeBlob(folder, INDEX, bytes) })
}

/** An image for one platform, in a folder in OCI layout. */
export interface ImagePart {
  readonly folder: string
  readonly architecture: string
}

async function writeRoot(folder: string, { root, name }: { root: Descriptor; name?: string }): Promise<string> {
  const manifests = [name === undefined ? root : { ...root, annotations: { [NAME]: name } }]
  await writeFile(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }))
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  return root.digest
}

function blobPath(folder: string, digest: string): string {
  return join(folder, 'blobs', digest.replace(':', '/'))
}

/** Images for several platforms share layers. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
