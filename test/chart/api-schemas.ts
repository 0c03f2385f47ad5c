import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, openConnection } from '../../controller/runtime/connection.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { findDefinitions } from '../../scripts/charts/build.ts'
import { askApiServer } from '../cluster/ask-api-server.ts'
import type { ControlPlane } from '../cluster/control-plane.ts'

const CACHE = join(import.meta.dirname, '../../.cache')

type Schema = Readonly<Record<string, unknown>>

/** Where kubeconform finds the schema of a kind in a folder. */
export const SCHEMA_FILE = '{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json'

/**
 * JSON Schemas of all kinds that the API server itself knows, which allow no other fields, in a folder. They are kept in
 * `.cache` for each version of Kubernetes.
 */
export async function findApiSchemas(controlPlane: ControlPlane): Promise<string> {
  const connection = openConnection({ kubeconfig: controlPlane.kubeconfig })
  try {
    const { gitVersion } = await read<{ gitVersion: string }>(connection, '/version')
    const folder = join(CACHE, `api-schemas-${gitVersion}`)
    if (await exists(folder)) return folder
    await mkdir(CACHE, { recursive: true })
    const made = await mkdtemp(join(CACHE, 'schemas-'))
    await writeApiSchemas(connection, made)
    // Another one may have been faster.
    await rename(made, folder).catch(() => rm(made, { recursive: true }))
    return folder
  } finally {
    connection.close()
  }
}

/** The same for the custom resources, in a folder that exists. */
export async function writeDefinitionSchemas(folder: string): Promise<void> {
  for (const path of await findDefinitions()) {
    const [definition] = readYaml(await readFile(path, 'utf8')) as [Definition]
    const { group, names, versions } = definition.spec
    for (const { name: version, schema } of versions) {
      const file = fileName({ group, version, kind: names.kind })
      await writeFile(join(folder, file), JSON.stringify(closed(withMetadata(schema.openAPIV3Schema))))
    }
  }
}

interface Definition {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema & { readonly [KINDS]?: readonly Kind[] }>> }
}

interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const KINDS = 'x-kubernetes-group-version-kind'

async function writeApiSchemas(connection: Connection, folder: string): Promise<void> {
  const { paths } = await read<{ paths: Record<string, unknown> }>(connection, '/openapi/v3')
  for (const path of Object.keys(paths).filter(
    (name) => /^(api|apis\/.+)\/v\w+$/.test(name) && !name.includes('drape.dev'),
  )) {
    const { components } = await read<OpenApi>(connection, `/openapi/v3/${path}`)
    const schemas = components?.schemas ?? {}
    const definitions = { components: { schemas: closed(schemas) } }
    for (const [name, schema] of Object.entries(schemas)) {
      const kinds = schema[KINDS] ?? []
      // Of options for calls there is one for each group.
      if (kinds.length !== 1 || kinds[0].kind.endsWith('List')) continue
      const whole = { $ref: `#/components/schemas/${name}`, ...definitions }
      await writeFile(join(folder, fileName(kinds[0])), JSON.stringify(whole))
    }
  }
}

/** As kubeconform calls it: `apps_v1_deployment.json`, `v1_v1_pod.json`. */
function fileName({ group, version, kind }: Kind): string {
  return `${group || version}_${version}_${kind.toLowerCase()}.json`
}

function withMetadata(schema: Schema): Schema {
  return { ...schema, properties: { ...(schema.properties as Schema), metadata: { type: 'object' } } }
}

/** The schema, and all within, without room for fields that it does not name. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)])) as Schema
  const { type, properties, additionalProperties } = inner
  const isOpen = inner['x-kubernetes-preserve-unknown-fields'] || additionalProperties !== undefined
  return (type === 'object' && properties && !isOpen ? { ...inner, additionalProperties: false } : inner) as T
}

async function read<T>(connection: Connection, path: string): Promise<T> {
  return JSON.parse(await askApiServer(connection, { path }))
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
