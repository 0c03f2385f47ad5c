import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '../../controller/runtime/client.ts'
import { type Connection, openConnection } from '../../controller/runtime/connection.ts'
import { requestService } from '../support/request-service.ts'
import type { ControlPlane } from './control-plane.ts'
import { NAMESPACES } from './kinds.ts'

/** A namespace of one test, and the administrator's way to it. */
export interface TestNamespace {
  readonly namespace: string
  readonly connection: Connection
  readonly client: Client
  [Symbol.asyncDispose](): Promise<void>
}

export async function createTestNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  const connection = openConnection({ kubeconfig: controlPlane.kubeconfig })
  const client = createClient(connection, { fieldManager: 'test' })
  const namespace = `test-${randomBytes(5).toString('hex')}`
  await client.create(NAMESPACES, { metadata: { name: namespace } })
  return {
    namespace,
    connection,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.delete(NAMESPACES, { name: namespace }).catch(() => {})
      connection.close()
    },
  }
}

/** A file like that of the control plane, for another address, a proxy or another user. */
export async function writeKubeconfig(
  controlPlane: ControlPlane,
  {
    port,
    server = port === undefined ? controlPlane.server : `https://127.0.0.1:${port}`,
    proxy,
    user,
  }: { port?: number; server?: string; proxy?: string; user?: string },
): Promise<string> {
  const { path } = await requestService('folder', null)
  const file = join(path, 'kubeconfig.json')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [
      {
        name: 'test',
        cluster: {
          server,
          ...(server.startsWith('http:')
            ? { 'insecure-skip-tls-verify': true }
            : { 'certificate-authority-data': Buffer.from(controlPlane.certificate).toString('base64') }),
          ...(proxy !== undefined && { 'proxy-url': proxy }),
        },
      },
    ],
    users: [{ name: 'admin', user: { token: controlPlane.token, ...(user && { as: user }) } }],
  }
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  return file
}
