import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../scripts/stack/commands.ts'
import { acquireLock } from '../../../scripts/stack/lock.ts'
import { spawnProcess, type TestProcess } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { type ControlPlane, type NodeSettings, startControlPlane } from '../control-plane.ts'
import { clearMachine } from './clear-machine.ts'
import { makeControlGroups } from './control-groups.ts'
import { BRIDGE, clearNetwork, openNetwork } from './network.ts'
import { makeNodeCertificates, type NodeCertificates } from './node-certificates.ts'
import type { NodePrograms } from './node-programs.ts'
import { NODE_NAME, type NodeFiles, PAUSE_IMAGE, writeNodeFiles } from './node-settings.ts'

/** The only place where one may be: its networks and rules have fixed names. */
const FOLDER = join(tmpdir(), 'drape-test-cluster')

/** A cluster of one real node. */
export interface RealCluster {
  readonly controlPlane: ControlPlane
  readonly folder: string
  /** Runs kubectl as the administrator and returns what it wrote. */
  kubectl(...args: string[]): Promise<string>
  apply(objects: readonly object[]): Promise<void>
  /** Gives an image of the node another name. */
  tag(image: string, name: string): Promise<void>
  /** Brings an archive of images onto the node. */
  load(archive: string): Promise<void>
  /** The last lines that each program of the node has written. */
  logs(): string
  stop(): Promise<void>
}

/** Starts a cluster of one node on this machine and resolves when the node is ready. What another run has left is cleared first. */
export async function startRealCluster(programs: NodePrograms): Promise<RealCluster> {
  const lock = acquireLock(`${FOLDER}.lock`)
  if ('heldBy' in lock) throw new Error(`${lock.heldBy} has a cluster on this machine`)
  const undo = new AsyncDisposableStack()
  undo.defer(() => lock.release())
  try {
    await clearMachine(FOLDER)
    await clearNetwork()
    await mkdir(FOLDER, { recursive: true })
    await openNetwork(undo)
    return await start(programs, undo)
  } catch (error) {
    await undo.disposeAsync()
    throw error
  }
}

async function start(programs: NodePrograms, undo: AsyncDisposableStack): Promise<RealCluster> {
  const running = new Map<string, TestProcess>()
  const spawn = async (name: string, command: string, args: readonly string[]) => {
    const started = await spawnProcess({ command, args, cwd: FOLDER, env: process.env })
    running.set(name, started)
    undo.defer(async () => void (await started.end('SIGKILL')))
  }
  const certificates = await makeNodeCertificates(join(FOLDER, 'pki'))
  const tokens = { node: randomBytes(16).toString('hex'), proxy: randomBytes(16).toString('hex') }
  const { controlPlane } = await startControlPlane({
    folder: FOLDER,
    programs: programs.controlPlane,
    start: (part) => spawn(part.name, part.command, part.args),
    nodes: nodeSettings(certificates, tokens),
  })
  const kubeconfig = await writeKubeconfig('node', controlPlane, tokens.node)
  const proxyKubeconfig = await writeKubeconfig('proxy', controlPlane, tokens.proxy)
  const files = await writeNodeFiles(FOLDER, {
    authority: certificates.authority,
    kubeconfig: controlPlane.kubeconfig,
    proxyKubeconfig,
  })

  // Undone last: by then nothing of the node runs any more.
  undo.defer(() => clearMachine(FOLDER))
  await makeControlGroups()
  await spawn('containerd', 'containerd', ['--config', files.containerd])
  const ctr = (...args: string[]) => run('ctr', ['--address', files.socket, '--namespace', 'k8s.io', ...args])
  await until(() => ctr('version').catch(() => null))
  await ctr('images', 'import', programs.pauseArchive)
  await ctr('images', 'label', PAUSE_IMAGE, 'io.cri-containerd.pinned=pinned')
  const kubeProxy = ['kube-proxy', `--config=${files.kubeProxy}`]
  undo.defer(async () => void (await run(programs.node, [...kubeProxy, '--cleanup'])))
  await spawn('kube-proxy', programs.node, kubeProxy)
  await spawn('coredns', programs.coreDns, ['-conf', files.coreDns])
  await spawn('kubelet', programs.node, kubeletArguments(files, kubeconfig))

  const env = { ...process.env, KUBECONFIG: controlPlane.kubeconfig }
  const kubectl = (...args: string[]) => run(programs.node, ['kubectl', ...args], { env })
  await until(() => kubectl('get', 'node', NODE_NAME).catch(() => null))
  await kubectl('wait', '--for=condition=Ready', `node/${NODE_NAME}`, '--timeout=120s')
  // Pods first: the kubelet has the runtime and the network plugin remove them.
  undo.defer(async () => {
    await kubectl('delete', 'pods', '--all', '--all-namespaces', '--grace-period=1', '--wait=false').catch(() => {})
  })
  return {
    controlPlane,
    folder: FOLDER,
    kubectl,
    apply: async (objects) => {
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
      await run(programs.node, ['kubectl', 'apply', '--filename=-'], { env, input })
    },
    tag: async (image, name) => void (await ctr('images', 'tag', '--force', image, name)),
    load: async (archive) => void (await ctr('images', 'import', archive)),
    logs: () => [...running].map(([name, { output }]) => `== ${name}\n${output().slice(-3000)}`).join('\n'),
    stop: () => undo.disposeAsync(),
  }
}

function nodeSettings(
  { authority, certificate, key }: NodeCertificates,
  tokens: { node: string; proxy: string },
): NodeSettings {
  return {
    address: BRIDGE.address,
    tokens: [`${tokens.node},system:node:${NODE_NAME},node,"system:nodes"`, `${tokens.proxy},system:kube-proxy,proxy`],
    serverArguments: [
      `--client-ca-file=${authority}`,
      `--kubelet-client-certificate=${certificate}`,
      `--kubelet-client-key=${key}`,
      '--kubelet-preferred-address-types=InternalIP',
      '--enable-admission-plugins=NodeRestriction',
    ],
  }
}

function kubeletArguments({ kubelet }: NodeFiles, kubeconfig: string): string[] {
  return [
    'kubelet',
    `--config=${kubelet}`,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${NODE_NAME}`,
    `--node-ip=${BRIDGE.address}`,
    `--root-dir=${join(FOLDER, 'kubelet')}`,
    `--cert-dir=${join(FOLDER, 'kubelet/pki')}`,
  ]
}

async function writeKubeconfig(name: string, { kubeconfig }: ControlPlane, token: string): Promise<string> {
  const path = join(FOLDER, `${name}.kubeconfig.json`)
  const config = JSON.parse(await readFile(kubeconfig, 'utf8'))
  config.users[0].user = { token }
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  return path
}
