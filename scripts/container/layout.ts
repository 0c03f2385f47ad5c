import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'

/** An image in a folder in OCI layout. */
export interface StoredImage {
  readonly name: string
  /** Digest of the manifest, which identifies the image in a registry. */
  readonly digest: string
  /** Bytes of a pull without cached layers. */
  readonly size: number
  readonly layers: readonly StoredLayer[]
  readonly config: ImageConfig
}

export interface StoredLayer {
  readonly digest: string
  readonly size: number
}

/** The fields of an image configuration that the tools read. */
export interface ImageConfig {
  readonly architecture: string
  readonly config: {
    readonly User?: string
    readonly Env?: readonly string[]
    readonly Entrypoint?: readonly string[]
    readonly Cmd?: readonly string[]
    readonly WorkingDir?: string
  }
}

interface Manifest {
  readonly config: StoredLayer
  readonly layers: readonly StoredLayer[]
}

const NAME = 'org.opencontainers.image.ref.name'

/** The images of the folder, in the order of their addition. */
export async function readLayout(folder: string): Promise<StoredImage[]> {
  const index = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as {
    manifests: { digest: string; size: number; annotations?: Record<string, string> }[]
  }
  return Promise.all(
    index.manifests.map(async ({ digest, size, annotations }) => {
      const { config, layers } = await readBlob<Manifest>(folder, digest)
      return {
        name: annotations?.[NAME] ?? digest,
        digest,
        size: [config, ...layers].reduce((sum, part) => sum + part.size, size),
        layers,
        config: await readBlob<ImageConfig>(folder, config.digest),
      }
    }),
  )
}

/** Size of the unpacked layers on a node, in bytes. */
export async function measureUnpacked(folder: string, layers: readonly StoredLayer[]): Promise<number> {
  let bytes = 0
  for (const { digest } of layers) {
    const unpacked = createReadStream(blobPath(folder, digest)).pipe(createGunzip())
    for await (const chunk of unpacked) bytes += (chunk as Buffer).length
  }
  return bytes
}

async function readBlob<T>(folder: string, digest: string): Promise<T> {
  return JSON.parse(await readFile(blobPath(folder, digest), 'utf8')) as T
}

function blobPath(folder: string, digest: string): string {
  return join(folder, 'blobs', digest.replace(':', '/'))
}
