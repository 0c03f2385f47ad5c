import { archiveFolder } from '../container/archive-folder.ts'
import { writeBlob, writeManifest } from '../container/write-layout.ts'

const EMPTY = 'application/vnd.oci.empty.v1+json'
const WEIGHTS = 'application/vnd.drape.weights.v1'

/**
 * Writes the model files in `source` as an OCI artifact to the OCI layout `folder`, and returns its name and digest.
 * Deterministic: the same files have the same digest.
 */
export async function writeWeights(
  source: string,
  { folder, name }: { folder: string; name: string },
): Promise<{ name: string; digest: string }> {
  const layer = await writeBlob(folder, `${WEIGHTS}.tar`, await archiveFolder(source))
  const config = await writeBlob(folder, EMPTY, Buffer.from('{}'))
  const digest = await writeManifest(folder, { manifest: { artifactType: WEIGHTS, config, layers: [layer] }, name })
  return { name, digest }
}
