import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { chooseIdentity } from '../../scripts/stack/unprivileged.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { spawnProcess, type TestProcess } from './process.ts'
import { asProcess } from './process-roles.ts'
import { requestService } from './request-service.ts'

const ROLES = ['api', 'controller'] as const

/**
 * Starts PgBouncer in transaction mode before the database of the URL, with fewer connections to it than its clients open. Returns the
 * URL of the database through it.
 */
export async function startPgbouncer(databaseUrl: string): Promise<{ url: string; process: TestProcess }> {
  const program = REQUIREMENTS.pgbouncer.find() ?? 'pgbouncer'
  const { path: folder } = await requestService('folder', null)
  const { username, password, hostname, port: behind } = new URL(databaseUrl)
  const { port, release } = await reserveFreePort()
  const users = [username, ...ROLES.map((role) => new URL(asProcess(databaseUrl, role)).username)]
  const settings = join(folder, 'pgbouncer.ini')
  await writeFile(join(folder, 'users.txt'), users.map((user) => `"${user}" "${password}"\n`).join(''))
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${behind}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
admin_users = ${username}
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
`,
  )
  const identity = await chooseIdentity(program, folder)
  if (identity.owner !== undefined) {
    const { uid, gid } = identity.owner
    for (const path of [folder, settings, join(folder, 'users.txt')]) await chown(path, uid, gid)
  }
  await release()
  const process = await spawnProcess({ ...identity.wrap(program, [settings]), cwd: '/', env: {} })
  const url = new URL(databaseUrl)
  url.port = String(port)
  return { url: url.href, process }
}
