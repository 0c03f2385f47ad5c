import { realpath, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { McpServer } from '@modelcontextprotocol/server'
import { DrapeError } from '../../../api/shared/contract/errors.ts'

/**
 * Resolves paths relative to the folders of the client: its roots, else the working directory in which it started this program
 * (npm stores it in INIT_CWD). The first folder that contains the file is used. A client with roots limits its assistant to them:
 * then files outside of these folders, also behind symbolic links, throw `FORBIDDEN`.
 */
export function createFileFinder({ server }: McpServer, env: NodeJS.ProcessEnv): (path: string) => Promise<string> {
  return async (path) => {
    const roots = await listRoots(server)
    const folders = [...roots, env.INIT_CWD ?? process.cwd()]
    const candidates = folders.map((folder) => resolve(folder, path))
    for (const candidate of candidates) {
      if (!(await exists(candidate))) continue
      if (roots.length > 0) await assertInside(candidate, folders)
      return candidate
    }
    return candidates[0]
  }
}

async function assertInside(file: string, folders: readonly string[]): Promise<void> {
  const real = await realpath(file)
  for (const folder of folders) {
    const path = relative(await realpath(folder).catch(() => folder), real)
    if (path !== '..' && !path.startsWith(`..${sep}`)) return
  }
  throw new DrapeError(
    'FORBIDDEN',
    `${file} is outside of the folders of the client: ${folders.join(', ')}. Copy the image there.`,
  )
}

/** Clients of later protocol revisions have no roots: they start programs in the intended folder. */
async function listRoots(server: McpServer['server']): Promise<string[]> {
  if (server.getClientCapabilities()?.roots === undefined) return []
  const { roots } = await server.listRoots().catch(() => ({ roots: [] }))
  // A root on another host has no path here.
  return roots.flatMap(({ uri }) => (/^file:\/\/(localhost)?\//.test(uri) ? [fileURLToPath(uri)] : []))
}

/** Something other than a regular file counts too, so that its error names it. */
function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
