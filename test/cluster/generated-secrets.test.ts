import { createPrivateKey } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteSecrets } from '../../controller/generated-secrets/delete-secrets.ts'
import { ensureSecrets, type GeneratedSecret, SECRETS } from '../../controller/generated-secrets/ensure-secrets.ts'
import { generateData, type SecretData } from '../../controller/generated-secrets/secret-keys.ts'
import { createClient } from '../../controller/runtime/client.ts'
import { openConnection } from '../../controller/runtime/connection.ts'
import type { KubernetesObject, ResourceType } from '../../controller/runtime/resource.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { DEPLOYMENTS } from './kinds.ts'
import { createTestNamespace, type TestNamespace, writeKubeconfig } from './namespace.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface Secret extends KubernetesObject {
  readonly data?: SecretData
}

const controlPlane = await findSharedControlPlane()
const KEYS = {
  password: { alphanumeric: 32 },
  'api-password': { alphanumeric: 32, internal: true },
  'api-url': { text: 'redis://api:{api-password}@queue' },
  url: { text: 'redis://:{password}@queue' },
}
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true }
const ROLES: ResourceType = { ...RBAC, plural: 'roles', kind: 'Role' }
const BINDINGS: ResourceType = { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding' }

const decode = (text = '') => Buffer.from(text, 'base64').toString()
const encode = (text: string) => Buffer.from(text).toString('base64')

it('the values of a generated Secret are random, have the given size, and are inserted into templates', () => {
  const data = generateData({ ...KEYS, key: { base64Bytes: 32 }, 'tls.key': { privateKey: 'ed25519' } })
  expect(decode(data.password)).toMatch(/^[A-Za-z0-9]{32}$/)
  expect(decode(data.url)).toBe(`redis://:${decode(data.password)}@queue`)
  expect(decode(data['api-url'])).toMatch(/^redis:\/\/api:[A-Za-z0-9]{32}@queue$/)
  expect(data).not.toHaveProperty('api-password')
  expect(Buffer.from(decode(data.key), 'base64')).toHaveLength(32)
  expect(createPrivateKey(decode(data['tls.key'])).asymmetricKeyType).toBe('ed25519')
  expect(generateData(KEYS).password).not.toBe(data.password)
})

describe.skipIf(controlPlane === null)('the Secrets of a release', () => {
  let place: TestNamespace

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
  })
  afterAll(() => place?.[Symbol.asyncDispose]())

  const wanted = (name: string): GeneratedSecret => ({
    metadata: {
      name,
      namespace: place.namespace,
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'helm.sh/resource-policy': 'keep' },
    },
    keys: KEYS,
  })
  const program = (args: readonly string[]) =>
    run(process.execPath, ['controller/generated-secrets/main.ts', ...args], {
      cwd: ROOT,
      env: { ...process.env, KUBECONFIG: controlPlane?.kubeconfig },
    })
  const ensure = (names: readonly string[], client = place.client) => ensureSecrets(client, names.map(wanted))
  const ensureAs = async (name: string, access: Parameters<typeof writeKubeconfig>[1]) => {
    if (controlPlane === null) return
    const connection = openConnection({ kubeconfig: await writeKubeconfig(controlPlane, access) })
    const client = createClient(connection, { fieldManager: 'test' })
    await ensure([name], client).finally(() => connection.close())
  }
  const read = (name: string) => place.client.get<Secret>(SECRETS, { namespace: place.namespace, name })
  const create = (name: string, data: SecretData) =>
    place.client.create(SECRETS, { metadata: { namespace: place.namespace, name }, data })

  it('are created once, even by concurrent installations', async () => {
    const lines = (await Promise.all([ensure(['first', 'second']), ensure(['first', 'second'])])).flat()
    const { data } = (await read('first')) ?? {}
    expect(decode(data?.url)).toBe(`redis://:${decode(data?.password)}@queue`)
    expect(lines.sort()).toEqual(['first: created', 'first: unchanged', 'second: created', 'second: unchanged'])
    expect(await program(['ensure', JSON.stringify([wanted('first')])])).toBe('first: unchanged\n')
    expect((await read('first'))?.data).toEqual(data)
  })

  it('created by an operator are used unchanged', async () => {
    await create('own', { password: encode('mine'), url: encode('redis://mine'), 'api-url': encode('redis://mine') })
    expect(await ensure(['own'])).toEqual(['own: unchanged'])
    expect((await read('own'))?.metadata.annotations).toBeUndefined()
  })

  it('are not created when a value of one of them is lost', async () => {
    await create('lossy', { password: '', url: encode('redis://x'), 'api-url': encode('redis://x') })
    await expect(ensure(['untouched', 'lossy'])).rejects.toThrow('The Secret lossy lacks the key password: restore it')
    expect(await read('untouched')).toBeNull()
    expect(decode((await read('lossy'))?.data?.url)).toBe('redis://x')
  })

  it('are named in errors of the API server', async () => {
    const { namespace, client } = place
    const user = 'reader'
    const metadata = { namespace, name: user }
    const mayRead = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }
    await client.create(ROLES, { metadata, rules: [mayRead] })
    await client.create(BINDINGS, {
      metadata,
      roleRef: { apiGroup: RBAC.group, kind: 'Role', name: user },
      subjects: [{ apiGroup: RBAC.group, kind: 'User', name: user }],
    })
    await expect(ensureAs('refused', { user })).rejects.toThrow(/Cannot create the Secret refused: .*forbidden/)
    await expect(ensureAs('refused', { user: 'nobody' })).rejects.toThrow(/Cannot read the Secret refused: .*forbidden/)
    await expect(ensureAs('refused', { port: 9 })).rejects.toThrow('Cannot read the Secret refused: ')
  })

  it('are deleted only after the release', async () => {
    const { client, namespace } = place
    const name = 'drape-api'
    const labels = { app: name }
    const template = { metadata: { labels }, spec: { containers: [{ name, image: name }] } }
    const spec = { replicas: 0, selector: { matchLabels: labels }, template }
    await client.create(DEPLOYMENTS, { metadata: { namespace, name }, spec })
    const purge = () => deleteSecrets(client, { secrets: [wanted('first').metadata], unless: { namespace, name } })
    await expect(purge()).rejects.toThrow('The Deployment drape-api exists')
    expect(await read('first')).not.toBeNull()
    await client.delete(DEPLOYMENTS, { namespace, name })
    expect(await purge()).toEqual(['first: deleted'])
    expect(await read('first')).toBeNull()
    expect(await purge()).toEqual(['first: deleted'])
  })

  it('require valid arguments', async () => {
    await expect(program(['delete', '[]'])).rejects.toThrow('usage: node controller/generated-secrets/main.ts ensure')
    await expect(program(['ensure', '[]'])).rejects.toThrow('ended with 1')
  })
})
