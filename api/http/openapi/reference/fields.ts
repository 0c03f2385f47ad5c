import { resolveSchema, type Schema, type Schemas } from './document.ts'

export interface ReferenceField {
  /** From the outermost object: `products[].externalId`. */
  readonly path: string
  readonly isRequired: boolean
  /** Type and bounds: `string, 1 to 255 characters`. */
  readonly type: string
  readonly description: string
}

/** Every field of an object, the fields of inner objects below theirs. Older shapes are left out. */
export function listFields(schema: Schema, schemas: Schemas, path = ''): ReferenceField[] {
  const shapes = currentShapes(schema, schemas)
  return shapes.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, property]) => {
      const inner = path === '' ? name : `${path}.${name}`
      const field = {
        path: inner,
        isRequired: required.includes(name),
        type: describeType(property, schemas),
        description: findDescription(property, schemas),
      }
      return [field, ...listInnerFields(property, schemas, inner)]
    }),
  )
}

function listInnerFields(schema: Schema, schemas: Schemas, path: string): ReferenceField[] {
  const shapes = currentShapes(schema, schemas)
  const inItems = shapes.flatMap(({ items }) => (items ? listInnerFields(items, schemas, `${path}[]`) : []))
  const own = shapes.filter(({ properties }) => properties !== undefined)
  return [...own.flatMap((shape) => listFields(shape, schemas, path)), ...inItems]
}

/** The alternatives of a schema that callers should use. */
function currentShapes(schema: Schema, schemas: Schemas): Schema[] {
  const resolved = resolveSchema(schema, schemas)
  if (resolved.deprecated) return []
  if (resolved.anyOf === undefined) return [resolved]
  return resolved.anyOf.flatMap((shape) => currentShapes(shape, schemas))
}

function findDescription(schema: Schema, schemas: Schemas): string {
  const { description } = resolveSchema(schema, schemas)
  return description ?? currentShapes(schema, schemas).find((shape) => shape.description)?.description ?? ''
}

export function describeType(schema: Schema, schemas: Schemas): string {
  const resolved = resolveSchema(schema, schemas)
  const { anyOf, type, items, additionalProperties } = resolved
  const values = resolved.const === undefined ? resolved.enum : [resolved.const]
  if (values !== undefined) return joinChoices(values.map((value) => `\`${JSON.stringify(value)}\``))
  if (anyOf !== undefined) {
    const shapes = anyOf.filter((shape) => !resolveSchema(shape, schemas).deprecated)
    return joinChoices([...new Set(shapes.map((shape) => describeType(shape, schemas)))])
  }
  if (type === 'array')
    return `array of ${items ? plural(describeType(items, schemas)) : 'values'}${boundsOf(resolved)}`
  if (type === undefined) return 'any value'
  if (type === 'object' && resolved.properties === undefined && typeof additionalProperties === 'object')
    return 'object with any keys'
  return `${nameOfType(resolved)}${boundsOf(resolved)}`
}

function nameOfType({ type = '', format }: Schema): string {
  return format === 'binary' ? 'file' : format === 'uri' ? 'URL' : type
}

function plural(type: string): string {
  return type.replace(/^(string|object|integer|number|URL|file)\b/, '$1s')
}

function joinChoices(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
}

function boundsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  const bounds = [
    describeRange(minimum, maximum, ''),
    describeRange(minLength, maxLength, 'character'),
    describeRange(minItems, maxItems, 'item'),
  ]
  return bounds.map((bound) => (bound === '' ? '' : `, ${bound}`)).join('')
}

function describeRange(min: number | undefined, max: number | undefined, unit: string): string {
  const counted = (count: number) => (unit === '' ? String(count) : `${count} ${unit}${count === 1 ? '' : 's'}`)
  if (min !== undefined && max !== undefined) return min === max ? counted(max) : `${min} to ${counted(max)}`
  if (max !== undefined) return `at most ${counted(max)}`
  return min === undefined ? '' : `at least ${counted(min)}`
}
