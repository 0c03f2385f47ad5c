import { compileCheck, type Static, type TSchema, Type } from '../../api/shared/contract/schema.ts'
import type { KubernetesObject, ResourceType } from '../runtime/resource.ts'
import { MetadataSchema, type Rule } from './schema-parts.ts'

export const GROUP = 'drape.dev'
const VERSION = 'v1alpha1'

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'date'
  readonly path: string
  readonly description: string
  /** Shown only with `-o wide`. */
  readonly wide?: boolean
}

export const READY_COLUMN: Column = {
  name: 'Ready',
  type: 'string',
  path: '.status.conditions[?(@.type=="Ready")].status',
  description: 'Status of the Ready condition',
}

export const AGE_COLUMN: Column = {
  name: 'Age',
  type: 'date',
  path: '.metadata.creationTimestamp',
  description: 'Time since the object was created',
}

/** A custom resource: its definition for the API server, and the parser of its objects. */
export interface CustomResource<T> {
  readonly type: ResourceType
  /** The CustomResourceDefinition. */
  readonly definition: { readonly apiVersion: string; readonly kind: string }
  /**
   * Returns the object with all defaults filled in, or its problems. Does not modify its argument, and parses it once: a watch replaces
   * an object whose version has changed.
   */
  read(object: unknown): ReadResult<T>
}

type ReadResult<T> = { readonly object: T } | { readonly problems: string }

interface Options<Spec extends TSchema, Status extends TSchema> {
  readonly kind: string
  readonly plural: string
  readonly shortName: string
  readonly description: string
  readonly spec: Spec
  readonly status?: Status
  readonly rules?: readonly Rule[]
  readonly columns: readonly Column[]
  /** Enables the scale subresource. */
  readonly scale?: { readonly replicas: string; readonly statusReplicas: string; readonly selector: string }
}

/** A keyword that the API server does not know. */
const SIZE_KEYWORD = 'maxJsonKilobytes'
/** Objects that Kubernetes can use are not this deep; a deeper object would exhaust the stack of its reader. */
const MAX_DEPTH = 100

/** Builds definition and parser from the same schema, so that both accept the same objects. */
export function defineResource<Spec extends TSchema, Status extends TSchema = ReturnType<typeof Type.Object>>(
  options: Options<Spec, Status>,
) {
  const schema = Type.Object({
    metadata: MetadataSchema,
    spec: options.spec,
    status: Type.Optional(options.status ?? (Type.Object({}) as unknown as Status)),
  })
  type Resource = Static<typeof schema> & { readonly apiVersion?: string; readonly kind?: string }
  const check = compileCheck(withoutExtensions(schema) as typeof schema)
  const { kind, plural } = options
  const parse = (object: unknown): ReadResult<Resource> => {
    if (isTooDeep(object)) return { problems: `must not be nested more than ${MAX_DEPTH} levels deep` }
    const result = check(structuredClone(object))
    if (result.ok) return { object: result.value as Resource }
    // A status written by another version must not prevent this version from writing its own.
    const without = check({ ...structuredClone(object as object), status: undefined })
    if (without.ok) return { object: without.value as Resource }
    return { problems: without.problems.map(({ path, message }) => `${path} ${message}`).join('; ') }
  }
  const known = new WeakMap<object, ReadResult<Resource>>()
  const resource: CustomResource<Resource> = {
    type: { group: GROUP, version: VERSION, plural, kind, namespaced: true },
    definition: definitionOf(options),
    read: (object) => {
      if (typeof object !== 'object' || object === null) return parse(object)
      const before = known.get(object)
      if (before !== undefined) return before
      const result = parse(object)
      known.set(object, result)
      return result
    },
  }
  return resource
}

function isTooDeep(object: unknown): boolean {
  let level: unknown[] = [object]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return false
}

/** Reads an object; null if it is invalid. */
export function readValid<T>({ read }: Pick<CustomResource<T>, 'read'>, found: KubernetesObject): T | null {
  const result = read(found)
  return 'problems' in result ? null : result.object
}

/** The type of the objects of a custom resource. */
export type ObjectOf<R> = R extends CustomResource<infer T> ? T : never

function definitionOf(options: Options<TSchema, TSchema>) {
  const { kind, plural, shortName, description, spec, status, rules, columns, scale } = options
  const schema = {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: {
        type: 'string',
        description: 'API group and version of the object, for example drape.dev/v1alpha1.',
      },
      kind: { type: 'string', description: 'Kind of the object.' },
      // Named so that validation rules can refer to the name.
      metadata: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'Name of the object, unique among its kind in the namespace.' },
        },
      },
      spec: structural(spec),
      ...(status && { status: structural(status) }),
    },
    ...(rules && { 'x-kubernetes-validations': rules }),
  }
  const subresources = {
    status: {},
    ...(scale && {
      scale: {
        specReplicasPath: scale.replicas,
        statusReplicasPath: scale.statusReplicas,
        labelSelectorPath: scale.selector,
      },
    }),
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': 'drape' } },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['drape'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(status && { subresources }),
          additionalPrinterColumns: columns.map(columnOf),
        },
      ],
    },
  }
}

function columnOf({ name, type, path, description, wide }: Column) {
  return { name, type, jsonPath: path, description, ...(wide && { priority: 1 }) }
}

/**
 * Converts the schema to the API server's format: a field with a default is not required. Omits empty properties, as the API
 * server does; otherwise every apply under another field manager (Helm, kubectl) would look like a change.
 */
function structural(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(structural)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([name, value]) => name !== SIZE_KEYWORD && (name !== 'properties' || Object.keys(value).length > 0),
  )
  const copy = Object.fromEntries(kept.map(([name, value]) => [name, structural(value)]))
  if (!Array.isArray(copy.required) || typeof copy.properties !== 'object') return copy
  const properties = copy.properties as Record<string, object>
  const required = copy.required.filter((name) => !('default' in properties[name]))
  const { required: _, ...rest } = copy
  return required.length > 0 ? { ...rest, required } : rest
}

// Removes keywords that only the API server knows.
function withoutExtensions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutExtensions)
  if (typeof schema !== 'object' || schema === null) return schema
  const known = Object.entries(schema).filter(([name]) => !name.startsWith('x-kubernetes-'))
  const copy = Object.fromEntries(known.map(([name, value]) => [name, withoutExtensions(value)]))
  // A quantity is a number or a string. The API server has already validated it.
  if (!('x-kubernetes-int-or-string' in schema)) return copy
  return 'default' in copy ? { default: copy.default } : {}
}
