import { randomBytes } from 'node:crypto'
import { type GrantedProcess, ROLE_VARIABLES } from '../commands/database-rights.ts'

/** Database URL of each program of the stack. */
export type ProcessUrls = Readonly<Record<GrantedProcess, string>>

/**
 * In the stack's own database each process has a least-privilege role, with a new password per start. In an external
 * database, processes use the URLs that the caller provides for them, else the owner's.
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
  return { api: choose('api'), controller: choose('controller') }
}

/** The variables from which migrations create the roles; empty if every process is the owner. */
export function roleVariables(urls: ProcessUrls, databaseUrl: string): Record<string, string> {
  const own = Object.entries(urls).filter(([, url]) => url !== databaseUrl)
  return Object.fromEntries(own.map(([process, url]) => [ROLE_VARIABLES[process as GrantedProcess], url]))
}
