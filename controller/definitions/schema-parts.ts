import { type TSchema, Type } from '../../api/shared/contract/schema.ts'

// Building blocks of the schemas of custom resources. Everything is bounded, because the cost of a CEL rule depends on the max size.

/** A CEL rule over several fields. */
export interface Rule {
  readonly rule: string
  readonly message: string
  /** Field that the message refers to; default: the object itself. */
  readonly fieldPath?: string
  /** Evaluates a rule with `oldSelf`, then an optional value, also when the object is created. */
  readonly optionalOldSelf?: true
}

/**
 * A rule about the name of an object, for `rules` of the resource. Applies to new objects only: a name cannot be changed, so an
 * object that an earlier version accepted could otherwise never be changed again.
 */
export function nameRule({ rule, message }: Pick<Rule, 'rule' | 'message'>): Rule {
  return { rule: `oldSelf.hasValue() || (${rule})`, message, fieldPath: '.metadata.name', optionalOldSelf: true }
}

interface Described {
  readonly description: string
  readonly rules?: readonly Rule[]
}

/** An object. With `default: {}` it is optional if all its fields have a default, and always present after parsing. */
export function fields<P extends Record<string, TSchema>>(
  properties: P,
  { rules, ...options }: Described & { default?: Readonly<Record<string, never>> },
) {
  // The API server validates a default as written, without nested defaults.
  const filled = 'default' in options ? { default: defaultsOf(properties) } : {}
  return Type.Object(properties, { ...options, ...filled, ...withRules(rules) })
}

function defaultsOf(properties: Record<string, TSchema>): Record<string, unknown> {
  const withDefault = Object.entries(properties).filter(([, schema]) => 'default' in schema)
  return Object.fromEntries(withDefault.map(([name, schema]) => [name, (schema as { default?: unknown }).default]))
}

/** A list. `key`: the field that identifies an entry; `set`: entries are unique strings. */
export function list<S extends TSchema>(items: S, { key, set, rules, ...options }: Described & ListOptions) {
  const kind = key
    ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] }
    : set
      ? { 'x-kubernetes-list-type': 'set' }
      : { 'x-kubernetes-list-type': 'atomic' }
  return Type.Array(items, { ...options, ...kind, ...withRules(rules) })
}

interface ListOptions {
  readonly key?: string
  readonly set?: boolean
  readonly minItems?: number
  readonly maxItems: number
  readonly default?: unknown
}

/** An enum of strings. */
export function choice<const V extends string>(
  values: readonly V[],
  options: { description: string; default?: NoInfer<V> },
) {
  return Type.Unsafe<V>({ type: 'string', enum: [...values], ...options })
}

/** A map of strings. */
export function texts(options: {
  description: string
  maxProperties?: number
  default?: Readonly<Record<string, string>>
}) {
  const additionalProperties = { type: 'string', maxLength: 1024 }
  return Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties, maxProperties: 64, ...options })
}

/** The API server's syntax of a quantity, without a sign. */
const QUANTITY = '^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$'

/** A map of resource quantities, for example `cpu: 500m`. */
export function quantities(options: { description: string }) {
  const additionalProperties = { 'x-kubernetes-int-or-string': true, maxLength: 64, pattern: QUANTITY }
  return Type.Unsafe<Record<string, string | number>>({
    type: 'object',
    additionalProperties,
    maxProperties: 16,
    ...options,
  })
}

/** A number, or a percentage such as 25%. */
export function portion(options: { description: string; default: number | string }) {
  const limits = { minimum: 0, maximum: 1000, maxLength: 4, pattern: '^([0-9]|[1-9][0-9]|100)%$' }
  return Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, ...limits, ...options })
}

/** The name of an object in the same namespace. */
export function objectName(description: string) {
  return Type.String({ minLength: 1, maxLength: 253, description })
}

/** An integer number of seconds. */
export function seconds(options: { description: string; minimum?: number; maximum?: number; default?: number }) {
  return Type.Integer({ minimum: 0, maximum: 86_400, ...options })
}

/** A timestamp, for example 2026-05-01T10:00:00Z. */
export function moment(description: string) {
  return Type.String({ format: 'date-time', maxLength: 64, description })
}

export function observedGeneration() {
  return Type.Optional(Type.Integer({ description: 'Generation of the spec that the controller last reconciled.' }))
}

/** Conditions of an object, one per type. */
export function conditions() {
  return list(
    fields(
      {
        type: Type.String({ maxLength: 64, description: 'Type of the condition, such as Ready.' }),
        status: choice(['True', 'False', 'Unknown'], {
          description: 'Status of the condition: True, False or Unknown.',
        }),
        reason: Type.String({ maxLength: 256, description: 'Machine-readable reason for the status, in CamelCase.' }),
        message: Type.String({ maxLength: 1024, description: 'Human-readable reason for the status.' }),
        observedGeneration: Type.Integer({ description: 'Generation of the spec that the condition refers to.' }),
        lastTransitionTime: moment('Time of the last change of the status.'),
      },
      { description: 'Condition describes one aspect of the current state of the object.' },
    ),
    {
      key: 'type',
      maxItems: 32,
      default: [],
      description: 'Latest observations of the state of the object, one per condition type.',
    },
  )
}

/** Object metadata; the API server sets most fields. */
export const MetadataSchema = Type.Unsafe<{
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly generation: number
  readonly resourceVersion: string
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
}>({ type: 'object' })

function withRules(rules: readonly Rule[] | undefined) {
  return rules ? { 'x-kubernetes-validations': rules.map((rule) => ({ ...rule })) } : {}
}
