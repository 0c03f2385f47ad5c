import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Builder, buildImage, exportImage, type Target } from '../container/build.ts'
import { readLayout } from '../container/layout.ts'
import { combineImages } from '../container/write-layout.ts'
import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import type { Sbom } from './publish.ts'

/** The libraries of worker-cuda exist for one architecture only. */
const architecturesOf = (target: Target) => (target === 'worker-cuda' ? ['amd64'] : ['amd64', 'arm64'])

export interface ImageSettings {
  /** Receives a folder in OCI layout for each architecture, and one named index with all of them. */
  readonly folder: string
  readonly builder: Builder
  readonly annotations: Readonly<Record<string, string>>
  /** Without it every step runs again. */
  readonly cache: boolean
}

/** Builds an image for all its architectures, and returns the digest of their index. */
export async function buildForAll(
  target: Target,
  { folder, builder, annotations, cache }: ImageSettings,
): Promise<string> {
  const parts = architecturesOf(target).map((architecture) => ({ architecture, folder: join(folder, architecture) }))
  for (const { architecture, folder: layout } of parts) {
    const name = `localhost/drape-release/${target}:${architecture}`
    await buildImage(target, { root: ROOT, name, builder, architecture, cache })
    await mkdir(folder, { recursive: true })
    await exportImage(name, layout, builder)
    const [image] = await readLayout(layout)
    if (image.config.architecture !== architecture) {
      throw new Error(`${builder.command} built ${target} for ${image.config.architecture}, not for ${architecture}`)
    }
  }
  return combineImages(join(folder, 'index'), { parts, annotations })
}

/** Writes an SBOM (SPDX) of the image for each architecture below `folder`. */
export async function writeSboms(
  target: Target,
  { folder, version, syft }: { folder: string; version: string; syft: string },
): Promise<Sbom[]> {
  const sboms: Sbom[] = []
  for (const architecture of architecturesOf(target)) {
    const layout = join(folder, architecture)
    const path = join(folder, `sbom-${architecture}.spdx.json`)
    const named = ['--source-name', `drape/${target}`, '--source-version', version]
    await run(syft, ['scan', `oci-dir:${layout}`, ...named, '--output', `spdx-json=${path}`], {
      env: { ...process.env, SYFT_CHECK_FOR_APP_UPDATE: 'false' },
    })
    const [{ digest }] = await readLayout(layout)
    sboms.push({ digest, path })
  }
  return sboms
}
