import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonSchema } from '../../api/http/openapi/json-schema.ts'
import { run } from '../stack/commands.ts'
import { installPythonPackages } from '../stack/install-once.ts'
import { ROOT } from '../stack/session.ts'
import { describeDefinitions } from './schemas.ts'

const PACKAGES = join(ROOT, 'scripts/clients/python/requirements.txt')
const HEADER = '# Written by scripts/client python-models from the OpenAPI document; changes by hand are lost.'

/**
 * Generates `clients/python/drape_client/models.py`: a TypedDict per public schema of the OpenAPI document.
 * @param python interpreter with a version that the generator supports
 */
export async function presentPythonModels(python: string): Promise<string> {
  const environment = await installPythonPackages('python-models', PACKAGES, python)
  const folder = await mkdtemp(join(tmpdir(), 'drape-models-'))
  try {
    const [input, output, header] = ['input.json', 'models.py', 'header'].map((name) => join(folder, name))
    await writeFile(input, JSON.stringify(describeDocument()))
    await writeFile(header, `${HEADER}\n`)
    await run(join(environment, 'bin/datamodel-codegen'), [
      ...['--input', input, '--input-file-type', 'openapi', '--output', output],
      ...['--custom-file-header-path', header, '--disable-timestamp', '--formatters', 'builtin'],
      ...['--output-model-type', 'typing.TypedDict', '--no-use-closed-typed-dict', '--target-python-version', '3.10'],
      ...['--naming-strategy', 'parent-prefixed', '--enum-field-as-literal', 'all', '--use-double-quotes'],
      ...[
        '--reuse-model',
        '--collapse-reuse-models',
        '--use-standard-collections',
        '--use-union-operator',
        '--use-schema-description',
      ],
      ...['--use-field-description', '--use-inline-field-description', '--use-single-line-docstring'],
    ])
    return await readFile(output, 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Members for TypeScript, and of requests that the client types itself: a TypedDict cannot replace the type of a member. */
const HIDDEN = ['tsType', 'mask']

/** The definitions as a separate document. */
function describeDocument(): JsonSchema {
  const { WebhookMessage, ErrorBody, ...definitions } = describeDefinitions()
  const messages = (WebhookMessage as { anyOf: { properties: { type: { const: string } } }[] }).anyOf
  const named = Object.fromEntries(messages.map((message) => [nameOf(message.properties.type.const), message]))
  const { code } = (ErrorBody as { properties: Record<string, JsonSchema> }).properties
  const schemas = {
    ...definitions,
    ErrorCode: code,
    ErrorDetail: { ...DETAIL },
    ...named,
    WebhookMessage: { anyOf: Object.keys(named).map((name) => ({ $ref: `#/components/schemas/${name}` })) },
  }
  const text = JSON.stringify(schemas, (name, value) => (HIDDEN.includes(name) ? undefined : value))
  return {
    openapi: '3.1.0',
    info: { title: 'Drape', version: '1' },
    paths: {},
    components: { schemas: JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/')) },
  }
}

/** An invalid field of a request. */
const DETAIL = {
  type: 'object',
  required: ['path', 'message'],
  properties: { path: { type: 'string' }, message: { type: 'string' } },
}

/** `generation.completed` → `GenerationCompletedMessage`. */
function nameOf(type: string): string {
  const words = type.split('.').map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)
  return `${words.join('')}Message`
}
