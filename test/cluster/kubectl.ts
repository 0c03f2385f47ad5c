import { join } from 'node:path'
import { findGoTool } from '../../scripts/stack/go-tool.ts'
import { failUnlessAllowed } from '../support/missing.ts'
import { versionVariables } from './kubernetes-version.ts'

const MODULE = join(import.meta.dirname, 'install/node')

/** The path of a program that is kubelet, kube-proxy or kubectl, by its first argument, or the reason why it is unavailable. */
export async function findNodeProgram(): Promise<string | { readonly unavailable: string }> {
  return findGoTool({
    name: 'node',
    package: '.',
    source: { folder: MODULE },
    variables: await versionVariables(MODULE),
  })
}

/** A program whose first argument may be kubectl. Fails or returns null as `failUnlessAllowed` does. */
export async function findKubectl(): Promise<string | null> {
  const found = await findNodeProgram()
  return typeof found === 'string' ? found : failUnlessAllowed(`No kubectl: ${found.unavailable}.`)
}
