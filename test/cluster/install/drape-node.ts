import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Builder } from './base-image.ts'
import { type RealCluster, startRealCluster } from './cluster.ts'
import { type BuildPage, buildImages, CPU_TARGETS } from './images.ts'
import { archiveImages, type NodePrograms } from './node-programs.ts'
import { makeTrialImages, TRIAL_IMAGES } from './trial-services.ts'
import { makeVolumes } from './volumes.ts'

export interface DrapeNodeOptions {
  readonly builder: Builder
  readonly programs: NodePrograms
  /** Whose commands build the images; default: the quickstart. */
  readonly page?: BuildPage
  /** Each with the strictest Pod Security Standard. */
  readonly namespaces: readonly string[]
  /** Of volumes on the node, in GiB. */
  readonly volumes: readonly number[]
}

/** A cluster of one node with all images on it, as the tag `test`, volumes, and namespaces to install into. */
export async function startDrapeNode({
  builder,
  programs,
  page,
  namespaces,
  volumes,
}: DrapeNodeOptions): Promise<RealCluster> {
  const names = await buildImages(builder, page)
  await makeTrialImages(builder)
  const cluster = await startRealCluster(programs)
  try {
    for (const image of [...Object.values(names), ...Object.values(TRIAL_IMAGES)]) {
      const archive = join(cluster.folder, 'image.tar')
      await archiveImages([image], archive, builder)
      await cluster.load(archive)
      await rm(archive)
    }
    await makeVolumes(cluster, volumes)
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await cluster.apply(namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })))
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** As the pages call them, which have them from registries; the database is the one that runs in other tests too. */
export async function nameImages(cluster: RealCluster, house: string | null = null): Promise<void> {
  for (const registry of ['registry.example', house].filter((name) => name !== null)) {
    for (const version of ['0.1.0', '0.2.0']) {
      for (const target of CPU_TARGETS)
        await cluster.tag(`docker.io/drape/${target}:test`, `${registry}/drape/${target}:${version}`)
    }
  }
  await cluster.tag('docker.io/drape/worker:test', 'registry.example/drape/worker-cuda:0.1.0')
  for (const registry of ['docker.io', house].filter((name) => name !== null)) {
    await cluster.tag(TRIAL_IMAGES.postgres, `${registry}/library/postgres:18`)
    await cluster.tag(TRIAL_IMAGES.redis, `${registry}/valkey/valkey:8.1`)
  }
}
