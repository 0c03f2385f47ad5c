import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findCommand, isExecutable, run } from '../../scripts/stack/commands.ts'

const MODULE = join(import.meta.dirname, 'control-plane')
const CACHE = join(import.meta.dirname, '../../.cache/bin')
const GO = '/usr/local/go/bin/go'

export type ProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler'

/** How to start a program of the control plane: its command and first arguments; null where it is not there. */
export type Programs = (name: ProgramName) => { command: string; args: readonly string[] } | null

/**
 * The programs of a control plane: those in `KUBEBUILDER_ASSETS` when that is set, otherwise one binary that is built from its Go
 * module and kept. Without either, the reason why.
 */
export async function findPrograms(
  env: NodeJS.ProcessEnv,
  say: (text: string) => void,
): Promise<Programs | { readonly unavailable: string }> {
  if (env.KUBEBUILDER_ASSETS) return installedPrograms(env.KUBEBUILDER_ASSETS)
  const go = findCommand(['go']) ?? (isExecutable(GO) ? GO : undefined)
  if (go === undefined) return { unavailable: 'neither Go nor KUBEBUILDER_ASSETS is there' }
  try {
    const command = await findOrBuild(go, say)
    return (name) => ({ command, args: [name] })
  } catch (cause) {
    return { unavailable: `it could not be built: ${cause instanceof Error ? cause.message : cause}` }
  }
}

function installedPrograms(folder: string): Programs {
  return (name) => {
    const command = join(folder, name)
    return isExecutable(command) ? { command, args: [] } : null
  }
}

async function findOrBuild(go: string, say: (text: string) => void): Promise<string> {
  const program = join(CACHE, `control-plane-${await fingerprint()}`)
  const exists = await access(program).then(
    () => true,
    () => false,
  )
  if (exists) return program
  await mkdir(CACHE, { recursive: true })
  const folder = await mkdtemp(join(CACHE, 'build-'))
  try {
    say('Building a Kubernetes control plane, once; this takes some minutes …')
    const built = join(folder, 'control-plane')
    await run(go, ['build', '-trimpath', '-buildvcs=false', '-ldflags', await linkerFlags(), '-o', built, '.'], {
      cwd: MODULE,
      env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto' },
    })
    await rename(built, program)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return program
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const name of ['main.go', 'go.sum']) hash.update(await readFile(join(MODULE, name)))
  return hash.digest('hex').slice(0, 12)
}

/** Without its version the API server would call itself v0.0.0, which clients refuse. */
async function linkerFlags(): Promise<string> {
  const version = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.\d+/.exec(await readFile(join(MODULE, 'go.mod'), 'utf8'))
  if (version === null) throw new Error('go.mod names no version of Kubernetes')
  const [path, major, minor] = version
  const variables = { gitVersion: path.split(' ')[1], gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  const settings = Object.entries(variables).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
  return ['-s -w', ...settings].join(' ')
}
