import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { McpServer } from '@modelcontextprotocol/server'

/**
 * Resolves paths relative to the folders of the client: its roots, else the working directory in which it started this program
 * (npm stores it in INIT_CWD). The first folder that contains the file is used.
 */
export function createFileFinder({ server }: McpServer, env: NodeJS.ProcessEnv): (path: string) => Promise<string> {
  return async (path) => {
    if (isAbsolute(path)) return path
    const started = env.INIT_CWD ?? process.cwd()
    const candidates = [...(await listRoots(server)), started].map((folder) => resolve(folder, path))
    for (const candidate of candidates) if (await exists(candidate)) return candidate
    return candidates[0]
  }
}

/** Clients of later protocol revisions have no roots: they start programs in the intended folder. */
async function listRoots(server: McpServer['server']): Promise<string[]> {
  if (server.getClientCapabilities()?.roots === undefined) return []
  const { roots } = await server.listRoots().catch(() => ({ roots: [] }))
  return roots.flatMap(({ uri }) => (uri.startsWith('file://') ? [fileURLToPath(uri)] : []))
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
