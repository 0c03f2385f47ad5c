import pg from 'pg'
import { type GrantedProcess, grantRights } from '../../scripts/commands/database-rights.ts'

const PROCESSES: readonly GrantedProcess[] = ['api', 'controller']

/** Creates a role with minimal rights for each process in the database of the URL and its copies, with the password of the URL. */
export async function createProcessRoles(url: string): Promise<void> {
  const { password } = new URL(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const process of PROCESSES) {
      const role = new URL(asProcess(url, process)).username
      await client.query(`create role ${role} login password ${client.escapeLiteral(decodeURIComponent(password))}`)
      await grantRights(url, { process, role })
    }
  } finally {
    await client.end()
  }
}

/** The URL with which this process connects. */
export function asProcess(url: string, process: GrantedProcess): string {
  const changed = new URL(url)
  changed.username = `drape_${process}`
  return changed.href
}
