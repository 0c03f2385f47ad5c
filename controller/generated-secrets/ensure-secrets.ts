import { type Static, Type } from '../../api/shared/contract/schema.ts'
import type { Client } from '../runtime/client.ts'
import { KubernetesError } from '../runtime/kubernetes-error.ts'
import type { KubernetesObject, ObjectName, ResourceType } from '../runtime/resource.ts'
import { generateData, type SecretData, SecretKeysSchema, storedKeys } from './secret-keys.ts'

/** A Secret that the chart generates in the cluster. */
export const GeneratedSecretSchema = Type.Object({
  metadata: Type.Object({
    name: Type.String(),
    namespace: Type.String(),
    labels: Type.Record(Type.String(), Type.String()),
    annotations: Type.Record(Type.String(), Type.String()),
  }),
  keys: SecretKeysSchema,
})
export type GeneratedSecret = Static<typeof GeneratedSecretSchema>

interface Secret extends KubernetesObject {
  readonly data?: SecretData
}

export const SECRETS: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
}
const CONFLICT = 409

/**
 * Creates missing Secrets, and never changes existing ones. Returns one line per Secret. Throws an Error with the fix, before any write, if
 * an existing Secret lacks a key, and if the API server rejects a write.
 */
export async function ensureSecrets(client: Client, wanted: readonly GeneratedSecret[]): Promise<string[]> {
  const found = await Promise.all(wanted.map(({ metadata }) => read(client, metadata)))
  const problems = wanted.flatMap((secret, i) => findProblem(secret, found[i]) ?? [])
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const lines: string[] = []
  for (const [i, secret] of wanted.entries()) {
    const isCreated = found[i] === null && (await create(client, secret))
    lines.push(`${secret.metadata.name}: ${isCreated ? 'created' : 'unchanged'}`)
  }
  return lines
}

/** An empty value counts as absent. A new value would not replace the lost one, on which data may depend. */
function findProblem({ metadata: { name }, keys }: GeneratedSecret, existing: Secret | null): string | null {
  const missing = existing === null ? [] : storedKeys(keys).filter((key) => !existing.data?.[key])
  if (missing.length === 0) return null
  const lost = missing.length === 1 ? `the key ${missing[0]}` : `the keys ${missing.join(', ')}`
  return `The Secret ${name} lacks ${lost}: restore it from a backup, or delete the Secret to generate a new one. Data that the lost value encrypts or protects stays inaccessible.`
}

/** False if another Job, such as that of a second installation, has created the Secret meanwhile. */
async function create(client: Client, { metadata, keys }: GeneratedSecret): Promise<boolean> {
  const secret = { metadata, type: 'Opaque', data: generateData(keys) }
  return client.create(SECRETS, secret).then(
    () => true,
    (error: unknown) => {
      if (error instanceof KubernetesError && error.status === CONFLICT) return false
      throw explained('create', metadata.name, error)
    },
  )
}

async function read(client: Client, name: ObjectName): Promise<Secret | null> {
  return client.get<Secret>(SECRETS, name).catch((error: unknown) => {
    throw explained('read', name.name, error)
  })
}

function explained(verb: string, name: string, error: unknown): unknown {
  if (!(error instanceof KubernetesError)) return error
  return new Error(`Cannot ${verb} the Secret ${name}: ${error.message}`, { cause: error })
}
