import { type Html, html } from '../../http/answers/html.ts'
import { type Static, type TSchema, Type } from '../../shared/contract/schema.ts'
import {
  mapSettings,
  parseSetting,
  type Setting,
  type Settings,
  type SettingValues,
  schemaOf,
} from '../../shared/contract/setting.ts'
import { assertEngine, type EngineChoice, type Engines } from '../pages/engine-names.ts'
import type { Fields } from './fields.ts'
import { fieldsReader } from './form.ts'

/** Typed lists, before they are divided. */
const LIST_TEXT = Type.Optional(Type.String({ maxLength: 6000 }))

interface Reading {
  readonly engines: Engines
  /** The values until now: an engine that is unknown today may stay. */
  readonly before?: Readonly<Record<string, unknown>>
}

/**
 * Creates a reader of a form with a field for each setting, and with `others`. The reader returns every setting, as null where its
 * field is empty, and throws `VALIDATION_FAILED` with the problem of each field.
 */
export function settingsReader<T extends Settings, const P extends Record<string, TSchema>>(
  settings: T,
  others: P,
  words: Readonly<Record<string, string>> = {},
) {
  const rules = Object.entries(settings).flatMap(([name, { rule }]) => (rule ? [[name, `Enter ${rule}.`]] : []))
  const members: Record<string, TSchema> = { ...mapSettings(settings, memberOf), ...others }
  const read = fieldsReader(Type.Object(members), { ...Object.fromEntries(rules), ...words })
  return async (form: URLSearchParams, { engines, before = {} }: Reading) => {
    const fields = read(form) as Readonly<Record<string, unknown>>
    const values = mapSettings(settings, (setting, name) => readField(fields[name], name, setting))
    for (const [name, { namesEngines }] of Object.entries(settings)) {
      if (!namesEngines) continue
      const known = textsOf(before[name])
      for (const engine of textsOf(values[name])) await assertEngine(engines, engine, { path: name, before: known })
    }
    return { settings: values as SettingValues<T>, others: fields as Static<ReturnType<typeof Type.Object<P>>> }
  }
}

function memberOf(setting: Setting): TSchema {
  const { type } = schemaOf(setting)
  if (type === 'array') return LIST_TEXT
  if (setting.absent !== undefined) return Type.Optional(setting.schema)
  return type === 'boolean' ? Type.Boolean({ default: false }) : setting.schema
}

function readField(value: unknown, name: string, setting: Setting): unknown {
  if (value === undefined || value === '') return null
  return schemaOf(setting).type === 'array' ? parseSetting(String(value), name, setting) : value
}

function textsOf(value: unknown): string[] {
  return [value ?? []].flat().map(String)
}

interface Shown {
  /** Values by name; absent: not set. */
  readonly values: Readonly<Record<string, unknown>>
  readonly engines: readonly EngineChoice[]
}

/** A field for each setting, in their order; two numbers in turn share a row. */
export function settingFields(fields: Fields, settings: Settings, { values, engines }: Shown): Html {
  const rows: Html[] = []
  let numbers: Html[] = []
  const endRow = () => {
    if (numbers.length > 0) rows.push(html`<div class="pair">${numbers}</div>`)
    numbers = []
  }
  for (const [name, setting] of Object.entries(settings)) {
    const field = settingField(fields, name, { setting, value: values[name], engines })
    if (schemaOf(setting).type === 'integer') numbers.push(field)
    else {
      endRow()
      rows.push(field)
    }
  }
  endRow()
  return html`${rows}`
}

function settingField(
  { field, choice, tick }: Fields,
  name: string,
  { setting, value, engines }: { setting: Setting; value: unknown; engines: readonly EngineChoice[] },
): Html {
  const { label, absent } = setting
  const { type, minimum, maximum, format } = schemaOf(setting)
  const options = optionsOf(setting, engines)
  if (options !== null) return choice({ name, label, options, value: String(value ?? '') })
  if (type === 'boolean') return tick({ name, label, value: 'true', checked: value === true })
  const hint = hintOf(setting)
  const shared = { name, label, hint, value: textsOf(value).join(', '), required: absent === undefined }
  if (type === 'integer') return field({ ...shared, type: 'number', min: minimum, max: maximum })
  return field({ ...shared, type: format === 'email' ? 'email' : 'text' })
}

/** Values and labels of a setting that is chosen from a list; null for one that is typed or ticked. */
function optionsOf(setting: Setting, engines: readonly EngineChoice[]): (readonly [string, string])[] | null {
  const { absent, meanings, namesEngines } = setting
  const { type, enum: values } = schemaOf(setting)
  const none = (label = absent) => (label === undefined ? [] : [['', label] as const])
  const describe = (one: string) => (meanings?.[one] === undefined ? one : `${one}: ${meanings[one]}`)
  // A value that applies anyway is not listed twice.
  if (values) {
    const others = values.filter((one) => one !== absent).map((one) => [one, describe(one)] as const)
    return [...none(absent && describe(absent)), ...others]
  }
  if (namesEngines && type === 'string') return [...none(), ...engines]
  if (type === 'boolean' && absent !== undefined) return [...none(), ['true', 'yes'], ['false', 'no']]
  return null
}

function hintOf({ hint, absent, schema }: Setting): string | undefined {
  const { minimum, maximum } = schemaOf({ schema, label: '' })
  const range = maximum !== undefined && maximum <= 3600 ? `${minimum} to ${maximum}.` : undefined
  const parts = [range, hint, absent === undefined ? undefined : `Empty: ${absent}.`].filter(
    (part) => part !== undefined,
  )
  return parts.length === 0 ? undefined : parts.join(' ')
}

type Scalar = string | number | boolean | null

/** Values as the audit log holds them. */
export function presentSettings(values: Readonly<Record<string, Scalar | undefined | readonly string[]>>) {
  const entries = Object.entries(values).map(([name, value = null]): [string, Scalar] => [
    name,
    typeof value === 'object' && value !== null ? value.join(', ') : value,
  ])
  return Object.fromEntries(entries)
}

/** Labels by name. */
export function labelsOf(settings: Settings): Record<string, string> {
  return mapSettings(settings, ({ label }) => label)
}
