import { ROUTES } from '../../../api/http/core-routes.ts'
import { createDocument } from '../../../api/http/openapi/document.ts'

type Answer = 'AcceptedTryOn' | 'AcceptedOutfit' | 'Generation' | 'ProductList' | 'Credits'

const SCHEMAS: Readonly<Record<string, unknown>> = createDocument(ROUTES, { publicUrl: '', serviceName: 'Drape' })
  .components.schemas

/** The schema of a tool's result, as in the OpenAPI document, with references inlined. */
export function describeAnswer(name: Answer): Record<string, unknown> {
  return inline(SCHEMAS[name]) as Record<string, unknown>
}

function inline(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inline)
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema) return inline(SCHEMAS[String(schema.$ref).replace('#/components/schemas/', '')])
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, inline(value)]))
}
