import { type Html, html } from '../../answers/html.ts'
import { UploadFields } from '../server/images.schema.ts'
import { Output } from '../server/try-on.schema.ts'

/** What is read of a schema, whatever else it says. */
interface OptionSchema {
  readonly type?: string
  readonly enum?: readonly (string | number)[]
  readonly default?: unknown
  /** Of a text: values that the page offers until it knows more. */
  readonly examples?: readonly string[]
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** As people call them, in the order in which they matter; what is not here comes last, under its own name. */
const LABELS: Readonly<Record<string, string>> = {
  engine: 'Engine',
  fallback: 'Let fallback engines stand in',
  mode: 'Mode',
  format: 'Format of the result',
  crop: 'Crop to 4:5 around the person',
  fullResolution: 'Put the result back into the whole photo',
  watermark: 'Put the account’s logo on the result',
  seed: 'Seed',
  keepForDays: 'Keep the pictures for days',
  deadlineSeconds: 'Give up after seconds',
}

export interface OptionFields {
  /** Of an upload only what a try-on does not take as well. */
  readonly of: 'upload' | 'try-on'
}

/** A field for each thing that an upload, or the `output` of a try-on, takes; made from the schemas that check them. */
export function presentOptions({ of }: OptionFields): Html[] {
  const schemas: Record<string, OptionSchema> =
    of === 'upload' ? { crop: UploadFields.properties.crop } : Output.properties
  const names = [...new Set([...Object.keys(LABELS), ...Object.keys(schemas)])].filter((name) => name in schemas)
  return names.map((name) => presentOption(name, schemas[name]))
}

function presentOption(name: string, schema: OptionSchema): Html {
  const label = LABELS[name] ?? name
  const id = `option-${name}`
  const hint = schema.description
  const described = hint === undefined ? html`` : html` aria-describedby="${id}-hint"`
  const shown = hint === undefined ? html`` : html`<p class="hint" id="${id}-hint">${hint}</p>`
  if (schema.type === 'boolean') {
    const checked = schema.default === true ? html` checked` : html``
    return html`<div class="option check"><input type="checkbox" id="${id}" name="${name}" data-option="boolean"${described}${checked}>
<label for="${id}">${label}</label>${shown}</div>
`
  }
  const control = schema.enum === undefined && schema.examples === undefined ? numberField : choice
  return html`<div class="option"><label for="${id}">${label}</label>
${control({ id, name, schema, described })}${shown}</div>
`
}

interface Control {
  readonly id: string
  readonly name: string
  readonly schema: OptionSchema
  readonly described: Html
}

function choice({ id, name, schema, described }: Control): Html {
  const values = schema.enum ?? schema.examples ?? []
  const kind = typeof values[0] === 'number' ? 'number' : 'text'
  // Without a default of its own, it is up to the account.
  const open = schema.default === undefined ? html`<option value="" selected>as the account has it</option>` : html``
  const options = values.map((value) => {
    const selected = value === schema.default ? html` selected` : html``
    return html`<option value="${String(value)}"${selected}>${String(value)}</option>`
  })
  return html`<select id="${id}" name="${name}" data-option="${kind}"${described}>${open}${options}</select>`
}

function numberField({ id, name, schema, described }: Control): Html {
  const { minimum, maximum, default: value } = schema
  return html`<input type="number" id="${id}" name="${name}" data-option="number" step="1" min="${String(minimum)}" max="${String(maximum)}" value="${String(value)}" required${described}>`
}
