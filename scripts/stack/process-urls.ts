import { randomBytes } from 'node:crypto'
import { type GrantedProcess, ROLE_VARIABLES } from '../commands/database-rights.ts'

/** By which URL each program of the stack connects to Postgres. */
export type ProcessUrls = Readonly<Record<GrantedProcess, string>>

/**
 * Each process has a role of least rights in a database of our own, with a new password at each start. In a database that the
 * caller named, processes connect by the URLs that the caller gives for them, else as its owner.
 */
export function chooseProcessUrls(env: NodeJS.ProcessEnv, databaseUrl: string): ProcessUrls {
  const isOwn = !env.DATABASE_URL
  const choose = (process: GrantedProcess) => {
    if (!isOwn) return env[ROLE_VARIABLES[process]] || databaseUrl
    const url = new URL(databaseUrl)
    url.username = `drape_${process}`
    url.password = randomBytes(24).toString('hex')
    return url.href
  }
  return { api: choose('api'), worker: choose('worker'), controller: choose('controller') }
}

/** The variables by which migrations create the roles; none where every process is the owner. */
export function roleVariables(urls: ProcessUrls, databaseUrl: string): Record<string, string> {
  const own = Object.entries(urls).filter(([, url]) => url !== databaseUrl)
  return Object.fromEntries(own.map(([process, url]) => [ROLE_VARIABLES[process as GrantedProcess], url]))
}
