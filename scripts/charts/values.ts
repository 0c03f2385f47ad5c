import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'

/** A value of a chart, as described in its values.yaml. */
export interface Value {
  readonly path: readonly string[]
  /** The comment above it. */
  readonly description: string
  /** Rules of the comment `# @schema {…}` in addition to the type of the default. */
  readonly rules: Readonly<Record<string, unknown>>
  readonly fallback: unknown
  /** Nested values; null for a single value or a free-form map. */
  readonly children: readonly Value[] | null
}

const RULES = '@schema '

/** Parses the values with their comments. Throws with the path of a value without a comment. */
export function readValues(text: string): readonly Value[] {
  const { contents } = parseDocument(text)
  if (!isMap(contents)) throw new Error('values.yaml is not a map')
  return readMap(contents, [])
}

function readMap(map: YAMLMap, above: readonly string[]): Value[] {
  return map.items.map((pair, index) => {
    const name = isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
    return readValue(pair, { path: [...above, name], comment: commentOf(pair, index === 0 ? map : null) })
  })
}

/** The comment above the first entry of a map belongs to the map. */
function commentOf({ key }: Pair, first: YAMLMap | null): string {
  const own = isScalar(key) ? (key.commentBefore ?? '') : ''
  const before = first?.commentBefore ?? ''
  return [before, own].filter((part) => part !== '').join('\n')
}

function readValue(pair: Pair, { path, comment }: { path: readonly string[]; comment: string }): Value {
  const lines = comment.split('\n').map((line) => line.trim())
  const description = lines.filter((line) => line !== '' && !line.startsWith(RULES)).join(' ')
  if (description === '') throw new Error(`${path.join('.')} has no comment`)
  const rules = lines.filter((line) => line.startsWith(RULES)).map((line) => JSON.parse(line.slice(RULES.length)))
  const whole = Object.assign({}, ...rules)
  const isOpen = ['additionalProperties', 'definition', 'definitionByName', 'fields'].some((rule) => rule in whole)
  const children = isMap(pair.value) && !isOpen ? readMap(pair.value, path) : null
  return { path, description, rules: whole, fallback: plain(pair.value), children }
}

function plain(node: unknown): unknown {
  return node !== null && typeof node === 'object' && 'toJSON' in node ? (node as { toJSON(): unknown }).toJSON() : null
}
