import { describe, expect, it } from 'vitest'
import { readApiConfig } from '../api/config.ts'
import { ROUTES } from '../api/http/core-routes.ts'
import { createDocument } from '../api/http/openapi/document.ts'
import { blocksOf } from './support/documented-blocks.ts'
import { type JsonSchema, openDocument } from './support/openapi-document.ts'
import { TEST_SECRETS_KEY } from './support/secrets.ts'

const { operations, compile, resolve } = openDocument(
  createDocument(ROUTES, { publicUrl: 'https://try.example', serviceName: 'Drape' }),
)
const operationOf = (id: string) => {
  const operation = operations.find((one) => one.id === id)
  if (operation === undefined) throw new Error(`The OpenAPI document has no operation ${id}`)
  return operation
}
const answerOf = (id: string, status: number) =>
  operationOf(id).answers.get(status)?.bodies.get('application/json') as JsonSchema
const bodyOf = (id: string) => operationOf(id).bodies.get('application/json') as JsonSchema

/** Pages with JSON of the API: which block of JSON, and the schema of the document that it is part of. */
const JSON_BLOCKS: readonly (readonly [page: string, index: number, schema: JsonSchema])[] = [
  ['docs/api.md', 0, answerOf('getGeneration', 200)],
  ['docs/signing.md', 0, answerOf('enterFittingRoom', 401)],
  ['docs/privacy.md', 1, bodyOf('createTryOn')],
]

describe('the data in the docs', () => {
  it.each(JSON_BLOCKS)('matches the OpenAPI document as an excerpt: %s, JSON %i', (page, index, schema) => {
    const shown = JSON.parse(blocksOf(page).filter(({ language }) => language === 'json')[index].text)
    expect(issuesOf(shown, schema)).toEqual([])
    expect(issuesOf({ ...shown, unheardOf: 1 }, schema)).toEqual(['unheardOf is not in the schema'])
  })

  it('has settings that the API reads, on docs/dashboard.md', () => {
    const [, block] = blocksOf('docs/dashboard.md').filter(({ language }) => language === 'sh')
    const settings = Object.fromEntries(
      block.text
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/).slice(0, 2)),
    )
    const required = {
      DATABASE_URL: 'postgres://127.0.0.1/drape',
      REDIS_URL: 'redis://127.0.0.1',
      STORAGE_URL: 'file:/objects',
      PUBLIC_URL: 'https://tryon.example.com',
      SIGNING_SECRET: 'a'.repeat(32),
      SECRETS_KEY: TEST_SECRETS_KEY,
      DASHBOARD_PORT: '8081',
    }
    expect(readApiConfig({ ...required, ...settings })).toMatchObject(settings)
    expect(() => readApiConfig({ ...required, ...settings, OIDC_ISSUER: 'none' })).toThrow('OIDC_ISSUER')
  })
})

/** Problems of the members that the page shows; it may omit other members. */
function issuesOf(shown: Readonly<Record<string, unknown>>, schema: JsonSchema): string[] {
  const properties = propertiesOf(schema)
  return Object.entries(shown).flatMap(([name, value]) => {
    const found = properties.filter((one) => name in one).map((one) => one[name])
    if (found.length === 0) return [`${name} is not in the schema`]
    const checks = found.map(compile)
    return checks.some((check) => check(value)) ? [] : [`${name}: ${JSON.stringify(checks[0].errors)}`]
  })
}

/** Of the object, or of each of its alternatives. */
function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>>[] {
  const resolved = resolve(schema)
  if (typeof resolved === 'boolean') return []
  const { properties, anyOf, oneOf, allOf } = resolved as {
    readonly properties?: Readonly<Record<string, JsonSchema>>
  } & Readonly<Record<'anyOf' | 'oneOf' | 'allOf', readonly JsonSchema[] | undefined>>
  const parts = [anyOf, oneOf, allOf].flatMap((list) => list ?? []).flatMap(propertiesOf)
  return properties === undefined ? parts : [properties, ...parts]
}
