import { Output } from '../generations/try-on.schema.ts'
import { type Html, html } from '../http/answers/html.ts'
import { UploadFields } from '../photos/images.schema.ts'

/** The schema keywords in use. */
interface OptionSchema {
  readonly type?: string
  readonly enum?: readonly (string | number)[]
  readonly default?: unknown
  /** Values of a text field until the page has loaded the current ones. */
  readonly examples?: readonly string[]
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** Labels in order of importance; other fields come last, under their own name. */
const LABELS: Readonly<Record<string, string>> = {
  engine: 'Engine',
  fallback: 'Allow fallback engines',
  mode: 'Mode',
  format: 'Format of the result',
  crop: 'Crop to 4:5 around the person',
  fullResolution: 'Put the result back into the whole photo',
  watermark: 'Put the account’s logo on the result',
  seed: 'Seed',
  count: 'Number of results',
  changedMask: 'Return a mask of what changes',
  keepForDays: 'Retention of the images in days',
  deadlineSeconds: 'Deadline in seconds',
}

/** Hints in the words of the page; other options have the description of the interface. */
const HINTS: Readonly<Record<string, string>> = {
  engine: 'The software that generates the image. “mock” returns the photo unchanged and is free.',
  fallback: 'If the engine is busy or unavailable, a fallback engine of the account may replace it.',
  mode: 'Faster, or better images, if the engine has both modes.',
  seed: 'The same seed, engine and images give the same result.',
  fullResolution: 'Otherwise the result shows only the part around the person.',
  watermark: 'Has an effect only if the account has a logo.',
  keepForDays: 'The photo and the result are deleted after this time.',
  deadlineSeconds:
    'A try-on that takes longer fails, and its price is refunded. Empty: 300, or longer while try-ons wait.',
  crop: 'Recommended for most photos. If not selected, the result shows the same part as the photo.',
}

export interface OptionFields {
  /** Fields of an upload that a try-on does not have. */
  readonly of: 'upload' | 'try-on'
}

/** A form field for each option of an upload or of a try-on's `output` but the mask, which is an image, generated from their schemas. */
export function presentOptions({ of }: OptionFields): Html[] {
  const { mask: _, ...output } = Output.properties
  const schemas: Record<string, OptionSchema> = of === 'upload' ? { crop: UploadFields.properties.crop } : output
  const names = [...new Set([...Object.keys(LABELS), ...Object.keys(schemas)])].filter((name) => name in schemas)
  return names.map((name) => presentOption(name, schemas[name]))
}

function presentOption(name: string, schema: OptionSchema): Html {
  const label = LABELS[name] ?? name
  const id = `option-${name}`
  const hint = HINTS[name] ?? schema.description
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
  // Without a default the account's setting applies.
  const open = schema.default === undefined ? html`<option value="" selected>account default</option>` : html``
  const options = values.map((value) => {
    const selected = value === schema.default ? html` selected` : html``
    return html`<option value="${String(value)}"${selected}>${String(value)}</option>`
  })
  return html`<select id="${id}" name="${name}" data-option="${kind}"${described}>${open}${options}</select>`
}

function numberField({ id, name, schema, described }: Control): Html {
  const { minimum, maximum, default: value } = schema
  // Empty: the service chooses.
  const preset = value === undefined ? html`` : html` value="${String(value)}" required`
  return html`<input type="number" id="${id}" name="${name}" data-option="number" step="1" min="${String(minimum)}" max="${String(maximum)}"${preset}${described}>`
}
