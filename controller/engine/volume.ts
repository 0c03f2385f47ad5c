import type { Template } from '../worker-pool/template/template-schema.ts'
import type { Engine } from './resource.ts'

/** Directory of all engine files in a worker, with one subdirectory per engine. */
export const ENGINE_FOLDERS = '/models'
/** Name prefix of the containers that verify files. */
export const CHECK_PREFIX = 'check-'
/** Port of the probes of the first sidecar that downloads files; the others have the next ports. 9090 is the worker's. */
const FIRST_SIDECAR_PORT = 9091
/** Reserve for the files that a check writes and for partial downloads. */
const SPARE_BYTES = 64 * 2 ** 20
/** Added to the request of the worker for as long as the pod runs. */
const SIDECAR_CPU = '20m'
/** Variable of Node: a file with certificate authorities. */
const AUTHORITIES = 'NODE_EXTRA_CA_CERTS'
/** Variables with which a worker reaches other servers. */
const CONNECTING = [AUTHORITIES, 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']
const PROGRAM = ['node', 'worker/engines/files/main.ts']
/** The security context of containers under the Pod Security Standard `restricted`. */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
}

/** The parts of a pod that provide an engine's files. */
export interface EngineVolume {
  readonly volume: { readonly name: string }
  readonly mount: VolumeMount
  /**
   * Fill the volume if required, and verify every file. Run in this order before the worker, except a sidecar (`restartPolicy: Always`),
   * which runs beside it.
   */
  readonly initContainers: readonly { readonly name: string; readonly restartPolicy?: string }[]
}

/** Names of the engines whose files sidecars download while a worker starts. */
export function downloadedEngines(engines: readonly Engine[]): string[] {
  return engines.filter(({ spec }) => spec.source.url).map(({ metadata }) => metadata.name)
}

/** The volumes of the engines of a pool with this template. */
export function engineVolumes(engines: readonly Engine[], worker: Worker): EngineVolume[] {
  const downloaded = downloadedEngines(engines)
  return engines.flatMap((engine) => {
    const probePort = FIRST_SIDECAR_PORT + downloaded.indexOf(engine.metadata.name)
    return engineVolume(engine, worker, probePort) ?? []
  })
}

type Worker = Pick<Template, 'image' | 'imagePullPolicy' | 'env' | 'volumes'>

interface VolumeMount {
  readonly name: string
  readonly mountPath: string
  readonly readOnly: boolean
  readonly subPath?: string
}

/** The volume of an engine for a pod of this template; null if the image of the worker contains the files. */
function engineVolume(engine: Engine, worker: Worker, probePort: number): EngineVolume | null {
  const { source } = engine.spec
  if (source.bundled) return null
  const name = `models-${engine.metadata.name}`
  const { claimName, subPath } = source.persistentVolumeClaim ?? {}
  const mount = {
    name,
    mountPath: `${ENGINE_FOLDERS}/${engine.metadata.name}`,
    readOnly: true,
    ...(subPath !== undefined && { subPath }),
  }
  const check = { initContainers: [checkContainer(engine, mount, worker, probePort)] }
  if (claimName !== undefined) {
    return { volume: volumeOf(name, { persistentVolumeClaim: { claimName, readOnly: true } }), mount, ...check }
  }
  if (source.image?.mount === 'Volume') {
    return { volume: volumeOf(name, { image: { reference: source.image.reference } }), mount, ...check }
  }
  const bytes = engine.spec.files.reduce((sum, file) => sum + file.bytes, SPARE_BYTES)
  const volume = volumeOf(name, { emptyDir: { sizeLimit: String(bytes) } })
  const copy = source.image ? [copyContainer(source.image.reference, mount)] : []
  return { volume, mount, initContainers: [...copy, ...check.initContainers] }
}

function volumeOf(name: string, source: object): { readonly name: string } {
  return { name, ...source }
}

/** Copies the files from an image that contains them in /models and a program `cp`. */
function copyContainer(reference: string, { name, mountPath }: VolumeMount) {
  return {
    name: `copy-${name}`,
    image: reference,
    command: ['cp', '-r', '/models/.', mountPath],
    securityContext: RESTRICTED,
    volumeMounts: [{ name, mountPath }],
  }
}

function checkContainer({ metadata, spec }: Engine, mount: VolumeMount, worker: Worker, probePort: number) {
  const { image, imagePullPolicy } = worker
  const { url } = spec.source
  const files = spec.files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes }))
  const env = [
    { name: 'ENGINE_FOLDER', value: mount.mountPath },
    { name: 'ENGINE_FILES', value: JSON.stringify(files) },
  ]
  const container = {
    name: `${CHECK_PREFIX}${metadata.name}`,
    image,
    imagePullPolicy,
    command: PROGRAM,
    env,
    resources: { requests: { cpu: '100m', memory: '128Mi' } },
    // `kubectl describe` shows the last log line.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: RESTRICTED,
    volumeMounts: [mount],
  }
  if (url === undefined) return container
  const connecting = connectingParts(worker)
  return {
    ...container,
    env: [
      ...env,
      { name: 'ENGINE_URL', value: url.base },
      { name: 'PROBE_PORT', value: String(probePort) },
      ...(url.secretName ? [{ name: 'ENGINE_AUTHORIZATION', valueFrom: authorizationIn(url.secretName) }] : []),
      ...connecting.env,
    ],
    resources: { requests: { cpu: SIDECAR_CPU, memory: '128Mi' } },
    volumeMounts: [{ ...mount, readOnly: false }, ...connecting.volumeMounts],
    ...sidecar(probePort),
  }
}

/** The server of the files can be behind the proxy of the workers, or have a certificate of an authority that they trust in addition. */
function connectingParts({ env, volumes }: Worker) {
  const authorities = env.find(({ name }) => name === AUTHORITIES)?.value ?? ''
  const volume = volumes.find(({ mountPath }) => authorities.startsWith(`${mountPath}/`))
  return {
    env: env.filter(({ name }) => CONNECTING.includes(name)),
    volumeMounts: volume ? [{ name: volume.name, mountPath: volume.mountPath, readOnly: true }] : [],
  }
}

/** Ready while the files are complete. Kubernetes does not wait for it before it starts the worker. */
function sidecar(port: number) {
  return {
    restartPolicy: 'Always',
    // A slow answer of the sidecar must not make its worker unready.
    readinessProbe: { httpGet: { path: '/readyz', port }, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 15 },
  }
}

function authorizationIn(name: string) {
  return { secretKeyRef: { name, key: 'authorization' } }
}
