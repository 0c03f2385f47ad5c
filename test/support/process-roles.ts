import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { createClient } from 'redis'
import { type GrantedProcess, grantRights } from '../../scripts/commands/database-rights.ts'
import { ROOT } from '../../scripts/stack/session.ts'

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

/** Creates the Redis users of the chart in the server of the URL, without passwords, and resolves with the URL of the user `default`. */
export async function createRedisUsers(url: string): Promise<string> {
  const users = await readFile(join(ROOT, 'charts/drape/files/redis/users.acl'), 'utf8')
  const client = await createClient({ url }).connect()
  for (const line of users.trim().split('\n')) {
    const [, name, ...rules] = line.replace(/>\{[\w-]+\}/, 'nopass').match(/\([^)]*\)|\S+/g) ?? []
    await client.sendCommand(['ACL', 'SETUSER', name, ...rules])
  }
  client.destroy()
  return Object.assign(new URL(url), { username: 'default', password: 'none' }).href
}

/** The URL with which this process connects. */
export function asProcess(url: string, process: GrantedProcess | 'worker'): string {
  const changed = new URL(url)
  changed.username = `drape_${process}`
  return changed.href
}
