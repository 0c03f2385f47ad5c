import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { archiveFolder } from '../../../scripts/container/archive-folder.ts'
import { readLayout } from '../../../scripts/container/layout.ts'
import { combineImages, writeBlob, writeManifest } from '../../../scripts/container/write-layout.ts'
import { writeChart } from '../../../scripts/releases/chart-artifact.ts'
import { describeProvenance } from '../../../scripts/releases/provenance.ts'
import type { Artifact, Sbom } from '../../../scripts/releases/publish.ts'
import { findReleaseTool } from '../../../scripts/releases/tools.ts'
import { failUnlessAllowed } from '../../support/missing.ts'

const CONFIG = 'application/vnd.oci.image.config.v1+json'
const LAYER = 'application/vnd.oci.image.layer.v1.tar'

/** A program of releases. Fails or returns null as `failUnlessAllowed` does. */
export function findReleaseProgram(name: 'crane' | 'cosign' | 'syft'): Promise<string | null> {
  return findReleaseTool(name).catch((error: Error) => failUnlessAllowed(`${error.message}.`))
}

/** An image of a few bytes for two architectures, and the chart of the repository, as `scripts/release` makes them. */
export async function makeSmallRelease(
  folder: string,
  { prefix, text = '' }: { prefix: string; text?: string },
): Promise<readonly [api: Artifact, chart: Artifact]> {
  const parts = ['amd64', 'arm64'].map((architecture) => ({ architecture, folder: join(folder, 'api', architecture) }))
  for (const part of parts) await makeImage(part, text)
  const annotations = { 'org.opencontainers.image.version': '0.1.0' }
  const index = join(folder, 'api/index')
  const digest = await combineImages(index, { parts, annotations })
  const sboms = await Promise.all(parts.map((part) => writeSbom(part.folder)))
  const chart = { folder: join(folder, 'chart'), work: join(folder, 'work') }
  return [
    { repository: `${prefix}/api`, digest, folder: index, sboms },
    { repository: `${prefix}/charts/drape`, digest: await writeChart('drape', chart), folder: chart.folder, sboms: [] },
  ]
}

async function makeImage({ folder, architecture }: { folder: string; architecture: string }, text: string) {
  const files = join(folder, '..', `files-${architecture}`)
  await mkdir(files, { recursive: true })
  await writeFile(join(files, 'index.js'), `// ${architecture} ${text}`)
  const layer = await writeBlob(folder, LAYER, await archiveFolder(files))
  const described = { architecture, os: 'linux', rootfs: { type: 'layers', diff_ids: [layer.digest] }, config: {} }
  const config = await writeBlob(folder, CONFIG, Buffer.from(JSON.stringify(described)))
  await writeManifest(folder, { manifest: { config, layers: [layer] } })
}

async function writeSbom(folder: string): Promise<Sbom> {
  const [{ digest }] = await readLayout(folder)
  const path = join(folder, 'sbom.spdx.json')
  await writeFile(path, JSON.stringify({ spdxVersion: 'SPDX-2.3', packages: [{ name: digest }] }))
  return { digest, path }
}

/** The file with the predicate. */
export async function writeProvenance(folder: string): Promise<string> {
  const source = { version: '0.1.0', commit: 'c0ffee', repository: '', notes: '', lockFile: '0'.repeat(64) }
  const now = new Date('2026-11-25T12:00:00Z')
  const predicate = describeProvenance({ source, bases: [], startedAt: now, finishedAt: now, env: {} })
  const path = join(folder, 'provenance.json')
  await writeFile(path, JSON.stringify(predicate))
  return path
}
