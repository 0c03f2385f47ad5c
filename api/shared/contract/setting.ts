import { DrapeError, type FieldProblem } from './errors.ts'
import { compileInputCheck, Nullable, readNumber, type Static, type TSchema, Type } from './schema.ts'

/** A setting of an account or a shop, declared once for store, dashboard and command line. */
export interface Setting<S extends TSchema = TSchema> {
  /** Of its value: an integer, a boolean, a text, an enum or a list of texts. */
  readonly schema: S
  /** Its name on pages and, in lower case, in commands. */
  readonly label: string
  /** What applies without a value. A setting without these words always has a value. */
  readonly absent?: string
  readonly hint?: string
  /** Its option in commands, where it is not the name. */
  readonly option?: string
  /** Placeholder of a text in commands. */
  readonly placeholder?: string
  /** What a text must be, for a schema that says it in a pattern: `the name of an engine`. */
  readonly rule?: string
  /** What the values of an enum mean, in the order of a page. */
  readonly meanings?: Readonly<Record<string, string>>
  /** Its texts are names of engines. */
  readonly namesEngines?: boolean
}

export type Settings = Readonly<Record<string, Setting>>

/** Values by name; null: not set. */
export type SettingValues<T extends Settings> = {
  readonly [K in keyof T]: T[K] extends { readonly absent: string }
    ? Static<T[K]['schema']> | null
    : Static<T[K]['schema']>
}

/** Members of a JSON Schema that forms and commands use. */
export interface SettingSchema {
  readonly type?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly format?: string
  readonly enum?: readonly string[]
}

export function schemaOf({ schema }: Setting): SettingSchema {
  return schema as SettingSchema
}

/** A JSON object with every setting as an optional member. */
export function optionalMembers<T extends Settings>(settings: T) {
  return Type.Unsafe<{ readonly [K in keyof T]?: Static<T[K]['schema']> }>(
    Type.Object(mapSettings(settings, ({ schema }) => Type.Optional(storedAs(schema)))),
  )
}

/** Members of a row with a column for each setting. */
export function rowMembers(settings: Settings): Record<string, TSchema> {
  return mapSettings(settings, ({ schema, absent }) => {
    const stored = storedAs(schema)
    return absent === undefined ? stored : Nullable(stored)
  })
}

/** The type alone: a narrower bound than that of the time of writing must not make a row unreadable. */
function storedAs(schema: TSchema): TSchema {
  const { type } = schema as SettingSchema
  if (type === 'integer') return Type.Integer()
  if (type === 'array') return Type.Array(Type.String())
  return type === 'string' ? Type.String() : schema
}

export function mapSettings<R>(settings: Settings, map: (setting: Setting, name: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, map(setting, name)]))
}

/** `writesPerMinute` as `writes_per_minute` or `writes-per-minute`. */
export function splitWords(name: string, separator: '_' | '-'): string {
  return name.replace(/[A-Z]/g, (letter) => separator + letter.toLowerCase())
}

/** The value that a text of a form or an option is meant as; itself, if it is none. */
export function convertText(text: string, schema: TSchema): unknown {
  const type = 'type' in schema ? schema.type : null
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'array') return [...new Set(text.split(/[\s,]+/).filter((part) => part !== ''))]
  return readNumber(text, schema)
}

/** Parses the text of a value. Throws `VALIDATION_FAILED`. */
export function parseSetting(text: string, name: string, { schema, rule }: Setting): unknown {
  const result = compileInputCheck(schema)(convertText(text, schema))
  if (result.ok) return result.value
  const message = rule === undefined ? (result.problems[0]?.message ?? 'is not valid') : `must be ${rule}`
  throw new DrapeError('VALIDATION_FAILED', `${name} ${message}.`, {
    details: [{ path: name, message }] satisfies FieldProblem[],
  })
}
