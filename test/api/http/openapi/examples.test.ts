import { describe, expect, it } from 'vitest'
import { ROUTES } from '../../../../api/http/core-routes.ts'
import { createDocument } from '../../../../api/http/openapi/document.ts'
import { OPERATION_EXAMPLES } from '../../../../api/http/openapi/examples/operation-examples.ts'
import { ERROR_CODES } from '../../../../api/shared/contract/error-codes.ts'
import { WEBHOOK_EVENTS } from '../../../../api/webhooks/webhooks.store.ts'
import { type JsonSchema, openDocument } from '../../../support/openapi-document.ts'

interface Content {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly $ref?: string }>>
}

const content = createDocument(ROUTES, { publicUrl: 'https://try.example', serviceName: 'Drape' })
const document = openDocument(content)
const components = content.components.examples as Readonly<Record<string, { value: unknown }>>

/** Every body of the document without repetitions, by its location. */
const bodies = [
  ...new Map(
    [...contentsOf(content.paths, 'paths'), ...contentsOf(content.webhooks, 'webhooks')].map((entry) => [
      JSON.stringify(entry.body),
      entry,
    ]),
  ).values(),
]

describe('the examples of the OpenAPI document', () => {
  it('exist and are valid for every body except pages and files', () => {
    for (const { body, place } of bodies.filter(({ body }) => !isOfErrors(body))) {
      const values = valuesOf(body)
      const isBesideJson = /(text\/html|(try-on|outfits).*form-data|products post.*form-data)$/.test(place)
      expect(values.length > 0, `${place}: has an example in api/http/openapi/examples`).toBe(!isBesideJson)
      const check = document.compile(body.schema)
      for (const value of values) expect(check(value) ? null : check.errors, place).toBeNull()
    }
  })

  it('exist and are valid for every error code of every operation', () => {
    const check = document.compile({ $ref: '#/components/schemas/Error' })
    for (const { value } of Object.values(components)) expect(check(value) ? null : check.errors).toBeNull()
    for (const { body, place } of bodies.filter(({ body }) => isOfErrors(body))) {
      const { properties } = body.schema as { properties: { code: { enum: string[] }; status: { const: number } } }
      expect(Object.keys(body.examples ?? {}), place).toEqual(properties.code.enum)
      for (const value of valuesOf(body)) expect(value).toMatchObject({ status: properties.status.const })
    }
  })

  it('belong to existing operations', () => {
    const ids = new Set(ROUTES.map(({ id }) => id))
    expect(Object.keys(OPERATION_EXAMPLES).filter((id) => !ids.has(id))).toEqual([])
  })

  it('show every error code, in a response or in a failed generation', () => {
    const shown = new Set(bodies.flatMap(({ body }) => Object.keys(body.examples ?? {})))
    const unused = ERROR_CODES.filter((code) => !shown.has(code))
    expect(
      unused,
      'add them to `errors` of a route or give them `failure` in api/shared/contract/error-codes.ts',
    ).toEqual([])
  })

  it('show every webhook', () => {
    const shown = bodies.filter(({ place }) => place.startsWith('webhooks')).map(({ body }) => body.example)
    expect(shown.map((message) => (message as { type: string }).type)).toEqual([...WEBHOOK_EVENTS, 'webhook.test'])
  })
})

function isOfErrors({ examples = {} }: Content): boolean {
  return Object.values(examples).some(({ $ref }) => $ref !== undefined)
}

function valuesOf({ example, examples = {} }: Content): unknown[] {
  const named = Object.values(examples).map(
    ({ value, $ref = '' }) => value ?? components[$ref.split('/').at(-1) ?? ''].value,
  )
  return example === undefined ? named : [example, ...named]
}

function contentsOf(value: unknown, place: string): { place: string; body: Content }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'content'
      ? Object.entries(inner as object).map(([type, body]) => ({ place: `${place} ${type}`, body }))
      : contentsOf(inner, `${place} ${name}`),
  )
}
