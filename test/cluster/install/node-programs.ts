import { access, copyFile, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../../../scripts/stack/commands.ts'
import { findGoTool, type GoTool } from '../../../scripts/stack/go-tool.ts'
import { failUnlessAllowed, reasonWithout } from '../../support/missing.ts'
import { findNodeProgram } from '../kubectl.ts'
import { findPrograms, type Programs } from '../programs.ts'
import { type Builder, buildIn, withFolder } from './base-image.ts'
import { PAUSE_IMAGE } from './node-settings.ts'

/** Paths of what a cluster with a real node is started with. */
export interface NodePrograms {
  readonly controlPlane: Programs
  /** kubelet, kube-proxy or kubectl, by its first argument. */
  readonly node: string
  readonly coreDns: string
  /** An archive with the image that holds a pod's namespaces. */
  readonly pauseArchive: string
}

/** Finds, installs or builds the programs. Fails or returns null as `failUnlessAllowed` does. */
export async function findNodePrograms(builder: Builder | null): Promise<NodePrograms | null> {
  if (builder === null) return null
  if (await reasonWithout('containerd', 'runc', 'bridge', 'iptables', 'conntrack', 'ip', 'openssl')) return null
  const found = await prepare(builder)
  if (!('unavailable' in found)) return found
  return failUnlessAllowed(`No cluster with a real node: ${found.unavailable}.`)
}

async function prepare(builder: Builder): Promise<NodePrograms | { readonly unavailable: string }> {
  // The one that is built: what KUBEBUILDER_ASSETS names has no controllers.
  const controlPlane = await findPrograms({}, console.warn)
  if ('unavailable' in controlPlane) return controlPlane
  const node = await findNodeProgram()
  if (typeof node !== 'string') return node
  const tools: Record<'coreDns' | 'pause', GoTool> = {
    coreDns: { name: 'coredns', package: 'github.com/coredns/coredns', source: { version: 'v1.15.0' } },
    pause: { name: 'pause', package: '.', source: { folder: join(import.meta.dirname, 'pause') } },
  }
  const paths: Record<string, string> = {}
  for (const [name, tool] of Object.entries(tools)) {
    const path = await findGoTool(tool)
    if (typeof path !== 'string') return path
    paths[name] = path
  }
  const { coreDns, pause } = paths
  return { controlPlane, node, coreDns, pauseArchive: await archivePause(pause, builder) }
}

async function archivePause(program: string, builder: Builder): Promise<string> {
  const archive = `${program}.tar`
  const exists = await access(archive).then(
    () => true,
    () => false,
  )
  if (exists) return archive
  return withFolder(async (folder) => {
    await copyFile(program, join(folder, 'pause'))
    const lines = ['FROM scratch', 'COPY pause /pause', 'USER 65535:65535', 'ENTRYPOINT ["/pause"]']
    await buildIn(folder, { name: PAUSE_IMAGE, lines, builder })
    const made = await mkdtemp(join(dirname(archive), 'build-'))
    await archiveImages([PAUSE_IMAGE], join(made, 'pause.tar'), builder)
    await rename(join(made, 'pause.tar'), archive)
    await rm(made, { recursive: true })
    return archive
  })
}

/** Writes the images into one archive, as a node takes them in. */
export async function archiveImages(
  names: readonly string[],
  archive: string,
  { command, options }: Builder,
): Promise<void> {
  for (const name of names)
    await run(command, [...options, 'push', '--quiet', name, `docker-archive:${archive}:${name}`])
}
