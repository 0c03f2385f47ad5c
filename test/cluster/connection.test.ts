import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClient } from '../../controller/runtime/client.ts'
import { type ConnectionOptions, openConnection } from '../../controller/runtime/connection.ts'
import type { KubernetesObject, ResourceType } from '../../controller/runtime/resource.ts'
import { createRandom } from '../faults/support/random.ts'
import { createLink } from '../faults/support/tcp-proxy.ts'
import { requestService } from '../support/request-service.ts'
import { askApiServer } from './ask-api-server.ts'
import { createTestNamespace, writeKubeconfig } from './namespace.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const REVIEWS: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
}
const SERVICE_ACCOUNTS: ResourceType = {
  group: '',
  version: 'v1',
  namespaced: true,
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
}
const POD_FOLDER = 'var/run/secrets/kubernetes.io/serviceaccount'

const controlPlane = await findSharedControlPlane()

describe.skipIf(controlPlane === null)('the connection to a cluster', () => {
  let folder: string
  const { server = '', certificate = '', token = '' } = controlPlane ?? {}

  const write = async (name: string, content: string | object) => {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const configOf = (user: object, more: object = {}) => ({
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'pki/ca.crt' } }],
    users: [{ name: 'u', user }],
    ...more,
  })

  beforeEach(async () => {
    folder = (await requestService('folder', null)).path
    await write('pki/ca.crt', certificate)
    vi.stubEnv('KUBECONFIG', '')
    vi.stubEnv('HOME', folder)
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })

  it('is read from a kubeconfig, with paths relative to its folder', async () => {
    const file = await write('config', configOf({ token, as: 'somebody' }))
    expect(await whoAmI({ kubeconfig: file })).toEqual({ name: 'somebody', namespace: 'shop' })
  })

  it('uses the service account of a pod, with its current token', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { client, connection, namespace } = place
    const writeTokenOf = async (name: string) => {
      await client.create(SERVICE_ACCOUNTS, { metadata: { namespace, name } })
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
      const { status } = JSON.parse(await askApiServer(connection, { method: 'POST', path, body: {} }))
      await write(`${POD_FOLDER}/token`, status.token)
    }
    await write(`${POD_FOLDER}/ca.crt`, certificate)
    await write(`${POD_FOLDER}/namespace`, 'drape\n')
    await writeTokenOf('early')
    vi.stubEnv('KUBERNETES_SERVICE_HOST', new URL(server).hostname)
    vi.stubEnv('KUBERNETES_SERVICE_PORT', new URL(server).port)
    const ours = openConnection({ podRoot: `${folder}/` })
    const ask = () => reviewMyself(ours)
    expect(ours.namespace).toBe('drape')
    expect(await ask()).toBe(`system:serviceaccount:${namespace}:early`)
    await writeTokenOf('late')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect(await ask()).toBe(`system:serviceaccount:${namespace}:late`)
    ours.close()
  })

  it('reuses connections', async () => {
    if (controlPlane === null) return
    const link = await createLink(Number(new URL(server).port), createRandom(1))
    const connection = openConnection({ kubeconfig: await writeKubeconfig(controlPlane, { port: link.port }) })
    for (let i = 0; i < 10; i++) await reviewMyself(connection)
    expect(link.reset()).toBeLessThan(4)
    connection.close()
    await link.close()
  })

  it('reports missing configuration', async () => {
    const refused = async (config: object) => {
      const file = await write('refused', config)
      return () => openConnection({ kubeconfig: file })
    }
    expect(() => openConnection()).toThrow('No cluster configured')
    expect(await refused(configOf({ token }, { 'current-context': 'elsewhere' }))).toThrow('The context elsewhere')
    expect(await refused(configOf({ token }, { clusters: [] }))).toThrow('The context here')
    expect(await refused(configOf({ tokenFile: 'token' }))).toThrow('needs a token')
    vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined)
    expect(() => openConnection({ podRoot: `${folder}/` })).toThrow('leads to no cluster')
  })
})

/** The user that the API server finds in the credentials, and the namespace of the user. */
async function whoAmI(options: ConnectionOptions = {}): Promise<{ name: string; namespace: string }> {
  const connection = openConnection(options)
  const name = await reviewMyself(connection)
  connection.close()
  return { name, namespace: connection.namespace }
}

async function reviewMyself(connection: ReturnType<typeof openConnection>): Promise<string> {
  const client = createClient(connection, { fieldManager: 'test' })
  const review = await client.create<
    KubernetesObject & { readonly status: { readonly userInfo: { username: string } } }
  >(REVIEWS, { metadata: { name: '' } })
  return review.status.userInfo.username
}
