import { type Static, Type } from '../../api/shared/contract/schema.ts'
import type { Client } from '../runtime/client.ts'
import { KubernetesError } from '../runtime/kubernetes-error.ts'
import type { KubernetesObject, ObjectName, ResourceType } from '../runtime/resource.ts'
import { completeData, type SecretData, SecretKeysSchema } from './secret-keys.ts'

/** A Secret that the chart generates in the cluster. */
export const GeneratedSecretSchema = Type.Object({
  metadata: Type.Object({
    name: Type.String(),
    namespace: Type.String(),
    labels: Type.Record(Type.String(), Type.String()),
    /** Also added to Secrets that Helm created, so that they survive the release that no longer renders them. */
    annotations: Type.Record(Type.String(), Type.String()),
  }),
  keys: SecretKeysSchema,
})
type Annotations = Readonly<Record<string, string>>
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
const ATTEMPTS = 5

/**
 * Creates missing Secrets and adds missing keys to existing ones. Never changes an existing value. Returns one line per Secret.
 * Throws an Error with the fix, before any write, if a Secret lacks a key whose value is lost, and if the API server rejects a
 * write.
 */
export async function ensureSecrets(client: Client, wanted: readonly GeneratedSecret[]): Promise<string[]> {
  const problems = (await Promise.all(wanted.map((secret) => findProblem(client, secret)))).filter(
    (text) => text !== null,
  )
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const lines: string[] = []
  for (const secret of wanted) lines.push(`${secret.metadata.name}: ${await ensure(client, secret)}`)
  return lines
}

async function findProblem(client: Client, { metadata, keys }: GeneratedSecret): Promise<string | null> {
  const existing = await read(client, metadata)
  const { missing } = completeData(keys, existing && (existing.data ?? {}))
  return missing.length === 0 ? null : describeMissing(metadata.name, missing)
}

function describeMissing(name: string, missing: readonly string[]): string {
  const keys = missing.length === 1 ? `the key ${missing[0]}` : `the keys ${missing.join(', ')}`
  return `The Secret ${name} lacks ${keys}: restore it from a backup, or delete the Secret to generate a new one. Data that the lost value encrypts or protects stays inaccessible.`
}

/** On a conflict with another writer, such as the Job of a second installation, the other writer's values win. */
async function ensure(client: Client, secret: GeneratedSecret): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ensureOnce(client, secret)
    } catch (error) {
      if (!(error instanceof KubernetesError && error.status === CONFLICT) || attempt === ATTEMPTS) throw error
    }
  }
}

async function ensureOnce(client: Client, { metadata, keys }: GeneratedSecret): Promise<string> {
  const existing = await read(client, metadata)
  const { added, missing } = completeData(keys, existing && (existing.data ?? {}))
  if (missing.length > 0) throw new Error(describeMissing(metadata.name, missing))
  if (existing === null) {
    await refusable('create', metadata.name, client.create(SECRETS, { metadata, type: 'Opaque', data: added }))
    return 'created'
  }
  const annotations = findUnprotected(existing, metadata.annotations)
  const [names, keeps] = [Object.keys(added), Object.keys(annotations).length > 0]
  if (names.length === 0 && !keeps) return 'unchanged'
  const { resourceVersion } = existing.metadata
  const patch = { metadata: { resourceVersion, annotations }, data: added }
  await refusable('update', metadata.name, client.patch(SECRETS, metadata, patch))
  return names.length === 0 ? 'unchanged, now retained after an uninstall' : `added ${names.join(', ')}`
}

/** The annotations that a Helm Secret lacks. Returns none for a Secret of another creator, which is not deleted with the release. */
function findUnprotected({ metadata: { labels, annotations = {} } }: Secret, wanted: Annotations): Annotations {
  if (labels?.['app.kubernetes.io/managed-by'] !== 'Helm') return {}
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => annotations[name] === undefined))
}

async function read(client: Client, name: ObjectName): Promise<Secret | null> {
  return refusable('read', name.name, client.get<Secret>(SECRETS, name))
}

async function refusable<T>(verb: string, name: string, call: Promise<T>): Promise<T> {
  return call.catch((error: unknown) => {
    if (!(error instanceof KubernetesError) || error.status === CONFLICT) throw error
    throw new Error(`Cannot ${verb} the Secret ${name}: ${error.message}`, { cause: error })
  })
}
