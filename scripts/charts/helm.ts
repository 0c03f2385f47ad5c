import { findGoTool } from '../stack/go-tool.ts'

const HELM = { name: 'helm', package: 'helm.sh/helm/v4/cmd/helm', source: { version: 'v4.3.1' } }

/** The path of Helm, built once from its Go module. Throws if the build fails. */
export async function findHelm(): Promise<string> {
  const found = await findGoTool(HELM, console.error)
  if (typeof found !== 'string') throw new Error(found.unavailable)
  return found
}
