import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from '../../scripts/stack/part.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { until } from '../support/until.ts'
import type { ProgramName, Programs } from './programs.ts'

/** How to reach a control plane as its administrator. */
export interface ControlPlane {
  readonly server: string
  /** PEM of the certificate that the server shows. */
  readonly certificate: string
  readonly token: string
  /** Of a file for kubectl. */
  readonly kubeconfig: string
  /** Whether Deployments make pods here and pods get nodes. */
  readonly hasControllers: boolean
}

/** Options of a control plane with real nodes. */
export interface NodeSettings {
  /** On which it listens, and which pods reach. */
  readonly address: string
  /** Lines of the token file beside the administrator's. */
  readonly tokens: readonly string[]
  readonly serverArguments: readonly string[]
}

interface Settings {
  readonly folder: string
  readonly nodes?: NodeSettings
  readonly programs: Programs
  readonly etcdPort: number
  readonly peerPort: number
  readonly serverPort: number
  readonly token: string
}

const LOOPBACK = '127.0.0.1'

/**
 * Starts a control plane that keeps everything in `folder` and resolves when it answers. `start` runs each of its parts; the one
 * of the API server is handed over too, for those who want to end it and start it again.
 */
export async function startControlPlane({
  folder,
  programs,
  start,
  nodes,
}: {
  folder: string
  programs: Programs
  start: (part: Part) => Promise<unknown>
  nodes?: NodeSettings
}): Promise<{ controlPlane: ControlPlane; apiServer: Part }> {
  const settings = await prepare(folder, programs, nodes)
  await start(etcd(settings))
  const apiServer = apiServerPart(settings)
  await start(apiServer)
  const controllers = [controllerManager(settings), scheduler(settings)].filter((part) => part !== null)
  const controlPlane = { ...(await access(settings)), hasControllers: controllers.length === 2 }
  await becomesReady(controlPlane)
  for (const part of controllers) await start(part)
  return { controlPlane, apiServer }
}

/** Resolves when the API server answers that it is ready. */
export async function becomesReady(
  controlPlane: Pick<ControlPlane, 'server' | 'certificate' | 'token'>,
): Promise<void> {
  const agent = new Agent({ ca: controlPlane.certificate })
  await until(() => answersReady(controlPlane, agent))
  agent.destroy()
}

async function prepare(folder: string, programs: Programs, nodes?: NodeSettings): Promise<Settings> {
  await mkdir(join(folder, 'pki'), { recursive: true })
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(join(folder, 'pki/accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  await writeFile(join(folder, 'pki/accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  })
  const token = randomBytes(16).toString('hex')
  const tokens = [`${token},admin,admin,"system:masters"`, ...(nodes?.tokens ?? [])]
  await writeFile(join(folder, 'pki/tokens.csv'), `${tokens.join('\n')}\n`, { mode: 0o600 })
  const ports = await Promise.all([reserveFreePort(), reserveFreePort(), reserveFreePort()])
  await Promise.all(ports.map(({ release }) => release()))
  const [etcdPort, peerPort, serverPort] = ports.map(({ port }) => port)
  return { folder, nodes, programs, token, etcdPort, peerPort, serverPort }
}

function etcd({ folder, programs, etcdPort, peerPort }: Settings): Part {
  const client = `http://127.0.0.1:${etcdPort}`
  const peer = `http://127.0.0.1:${peerPort}`
  return required(
    part('etcd', { folder, programs, stage: 0 }, [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      // Nothing here outlives the machine.
      '--unsafe-no-fsync',
    ]),
  )
}

function apiServerPart({ folder, nodes, programs, etcdPort, serverPort }: Settings): Part {
  const address = nodes?.address ?? LOOPBACK
  const pki = join(folder, 'pki')
  return required(
    part('kube-apiserver', { folder, programs, stage: 1 }, [
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      `--secure-port=${serverPort}`,
      `--cert-dir=${pki}`,
      `--service-account-key-file=${pki}/accounts.pub`,
      `--service-account-signing-key-file=${pki}/accounts.key`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--token-auth-file=${pki}/tokens.csv`,
      '--authorization-mode=Node,RBAC',
      '--service-cluster-ip-range=10.96.0.0/16',
      '--allow-privileged=true',
      '--shutdown-delay-duration=0s',
      ...(nodes?.serverArguments ?? []),
    ]),
  )
}

const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'resourceclaim-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'job-controller',
  'namespace-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
]

function controllerManager({ folder, nodes, programs }: Settings): Part | null {
  return part('kube-controller-manager', { folder, programs, stage: 2 }, [
    `--kubeconfig=${kubeconfigPath(folder)}`,
    `--controllers=${nodes === undefined ? CONTROLLERS.join(',') : '*'}`,
    `--service-account-private-key-file=${join(folder, 'pki/accounts.key')}`,
    `--root-ca-file=${certificatePath(folder)}`,
    ...MODEST,
  ])
}

function scheduler({ folder, programs }: Settings): Part | null {
  return part('kube-scheduler', { folder, programs, stage: 2 }, [`--kubeconfig=${kubeconfigPath(folder)}`, ...MODEST])
}

const MODEST = ['--leader-elect=false', '--secure-port=0', '--kube-api-qps=500', '--kube-api-burst=1000']

function part(
  name: ProgramName,
  { folder, programs, stage }: { folder: string; programs: Programs; stage: number },
  args: readonly string[],
): Part | null {
  const program = programs(name)
  if (program === null) return null
  const { command, args: first } = program
  return {
    name,
    command,
    args: [...first, ...args],
    cwd: folder,
    env: process.env,
    signal: 'SIGKILL',
    graceSeconds: 1,
    stage,
  }
}

function required(found: Part | null): Part {
  if (found === null) throw new Error('KUBEBUILDER_ASSETS has no etcd or no kube-apiserver')
  return found
}

async function access({ folder, nodes, serverPort, token }: Settings) {
  const server = `https://${nodes?.address ?? LOOPBACK}:${serverPort}`
  const certificate = await readOnceWritten(certificatePath(folder))
  const kubeconfig = kubeconfigPath(folder)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': certificatePath(folder) } }],
    users: [{ name: 'admin', user: { token } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 })
  return { server, certificate, token, kubeconfig }
}

async function readOnceWritten(path: string): Promise<string> {
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => '')
    if (text.includes('-----END CERTIFICATE-----')) return text
    await sleep(50)
  }
}

function answersReady({ server, token }: Pick<ControlPlane, 'server' | 'token'>, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(`${server}/readyz`, { agent, headers: { authorization: `Bearer ${token}` }, timeout: 5000 })
    sent.on('response', (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(false))
    sent.end()
  })
}

function certificatePath(folder: string): string {
  return join(folder, 'pki/apiserver.crt')
}

function kubeconfigPath(folder: string): string {
  return join(folder, 'kubeconfig.json')
}
