import { OPERATION_EXAMPLES } from './examples/operation-examples.ts'
import { describeOrRefer, describeSchema, type JsonSchema, type Names } from './json-schema.ts'
import type { Body, Operation } from './operation.ts'

const FILE: JsonSchema = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' }

/** Content types of a request body. */
export function describeBody({ id }: Operation, body: Body, names: Names): JsonSchema {
  const examples = OPERATION_EXAMPLES[id]?.request ?? {}
  const content = Object.entries(describeContent(body, names)).map(([type, described]) => [
    type,
    Object.hasOwn(examples, type) ? { ...described, example: examples[type] } : described,
  ])
  return { required: true, content: Object.fromEntries(content) }
}

function describeContent(body: Body, names: Names): Readonly<Record<string, JsonSchema>> {
  if ('json' in body) return describeJson(body, names)
  if ('form' in body) return describeForm(body, names)
  // Generated clients send a single type; the description says that any type is accepted.
  return { 'application/octet-stream': { schema: { ...FILE, description: body.bytes } } }
}

function describeJson(
  { json, legacy, hasFiles = false, text = {} }: Extract<Body, { json: unknown }>,
  names: Names,
): Readonly<Record<string, JsonSchema>> {
  if (legacy === undefined && !hasFiles) {
    const texts = Object.entries(text).map(([type, description]) => [type, { schema: { type: 'string', description } }])
    return { 'application/json': { schema: describeOrRefer(json, names) }, ...Object.fromEntries(texts) }
  }
  const current = describeOrRefer(json, names)
  const schema = legacy === undefined ? current : { anyOf: [current, describeOrRefer(legacy, names)] }
  return {
    'application/json': { schema },
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { data: schema },
        required: ['data'],
        additionalProperties: {
          ...FILE,
          description: 'A file that data names by its fileKey: JPEG, PNG, WebP or HEIC, at most 10 MB.',
        },
      },
      encoding: { data: { contentType: 'application/json' } },
    },
  }
}

function describeForm(
  { form, legacy, files }: Extract<Body, { form: unknown }>,
  names: Names,
): Readonly<Record<string, JsonSchema>> {
  const { properties, required = [], ...schema } = describeSchema(form, names) as JsonSchema & { required?: string[] }
  const fileFields = Object.entries(files).map(([name, description]) => [name, { ...FILE, description }])
  return {
    'multipart/form-data': {
      schema: {
        ...schema,
        properties: {
          ...Object.fromEntries(fileFields),
          ...(properties as JsonSchema),
          ...(legacy && (describeSchema(legacy, names).properties as JsonSchema)),
        },
        required: [...Object.keys(files), ...required],
      },
    },
  }
}
