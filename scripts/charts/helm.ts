import { findCommand, run } from '../stack/commands.ts'
import { findGoTool } from '../stack/go-tool.ts'

const HELM = { name: 'helm', package: 'helm.sh/helm/v4/cmd/helm', source: { version: 'v4.3.1' } }

/** The path of Helm 4: the one of the machine, or one that is built once from its Go module. Throws if the build fails. */
export async function findHelm(): Promise<string> {
  const installed = findCommand(['helm'])
  const version = installed && (await run(installed, ['version', '--short']).catch(() => ''))
  if (installed && version?.startsWith('v4.')) return installed
  const found = await findGoTool(HELM, (text) => console.error(`${text} (To save this time, install Helm 4.)`))
  if (typeof found !== 'string') throw new Error(found.unavailable)
  return found
}
