import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * A folder for what is expensive to build or to install and depends on no clone. Continuous integration keeps the parent,
 * `~/.cache/drape`, between runs.
 */
export function userCache(name: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'drape', name)
}
