import { join } from 'node:path'
import { isExecutable } from '../../scripts/stack/commands.ts'
import { findGoTool } from '../../scripts/stack/go-tool.ts'
import { versionVariables } from './kubernetes-version.ts'

const MODULE = join(import.meta.dirname, 'control-plane')

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
  const built = await findGoTool(
    {
      name: 'control-plane',
      package: '.',
      source: { folder: MODULE },
      variables: await versionVariables(MODULE),
    },
    say,
  )
  if (typeof built !== 'string') return built
  return (name) => ({ command: built, args: [name] })
}

function installedPrograms(folder: string): Programs {
  return (name) => {
    const command = join(folder, name)
    return isExecutable(command) ? { command, args: [] } : null
  }
}
