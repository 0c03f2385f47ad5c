/** The parts of an OpenAPI document that its pages show. */
export interface ReferenceDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: DescribedOperation }>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

export interface DescribedOperation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly 'x-required-scopes'?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface Content {
  readonly schema?: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

interface Answer {
  readonly description: string
  readonly content?: Readonly<Record<string, Content>>
}

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly description?: string
  readonly deprecated?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

export type Schemas = ReferenceDocument['components']['schemas']

/** The schema that a reference names, or the schema itself. */
export function resolveSchema(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : schemas[name]
}
