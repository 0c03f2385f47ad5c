import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The variables that set the Kubernetes version of a program, from the go.mod in the folder. Without them it would call itself
 * v0.0.0, which clients refuse.
 */
export async function versionVariables(folder: string): Promise<Record<string, string>> {
  const version = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.\d+/.exec(await readFile(join(folder, 'go.mod'), 'utf8'))
  if (version === null) throw new Error('go.mod names no version of Kubernetes')
  const [path, major, minor] = version
  const variables = { gitVersion: path.split(' ')[1], gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [`k8s.io/component-base/version.${name}`, value]),
  )
}
