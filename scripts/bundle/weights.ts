import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const EMPTY = 'application/vnd.oci.empty.v1+json'
const WEIGHTS = 'application/vnd.drape.weights.v1'

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/**
 * Writes the model files in `source` as an OCI artifact to the OCI layout `folder`, and returns its name and digest.
 * Deterministic: the same files have the same digest.
 */
export async function writeWeights(
  source: string,
  { folder, name }: { folder: string; name: string },
): Promise<{ name: string; digest: string }> {
  await mkdir(join(folder, 'blobs/sha256'), { recursive: true })
  const layer = await writeBlob(folder, `${WEIGHTS}.tar`, await archive(source))
  const config = await writeBlob(folder, EMPTY, Buffer.from('{}'))
  const manifest = { schemaVersion: 2, mediaType: MANIFEST, artifactType: WEIGHTS, config, layers: [layer] }
  const described = await writeBlob(folder, MANIFEST, Buffer.from(JSON.stringify(manifest)))
  const annotations = { 'org.opencontainers.image.ref.name': name }
  const index = { schemaVersion: 2, manifests: [{ ...described, annotations }] }
  await writeFile(join(folder, 'index.json'), JSON.stringify(index))
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  return { name, digest: described.digest }
}

async function writeBlob(folder: string, mediaType: string, bytes: Buffer): Promise<Descriptor> {
  const digest = createHash('sha256').update(bytes).digest('hex')
  await writeFile(join(folder, 'blobs/sha256', digest), bytes)
  return { mediaType, digest: `sha256:${digest}`, size: bytes.length }
}

/** A reproducible archive of the folder, without timestamps and owners. */
async function archive(folder: string): Promise<Buffer> {
  const steady = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rw,go=r,a+X']
  const tar = spawn('tar', ['--create', ...steady, '--directory', folder, '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve, reject) => {
    tar.on('error', reject)
    tar.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar exited with ${code}`))))
  })
  const [bytes] = await Promise.all([buffer(tar.stdout), ended])
  return bytes
}
