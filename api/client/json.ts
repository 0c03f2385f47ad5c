/**
 * JSON of the value, without `JSON.stringify`: scripts of a page, such as Prototype.js, replace it or add `toJSON` to the
 * prototypes of arrays, objects, texts and dates, which changes what it writes. Undefined for what JSON cannot express.
 */
export function toJson(value: object): string
export function toJson(value: unknown): string | undefined
export function toJson(value: unknown): string | undefined {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (typeof value === 'boolean' || value === null) return String(value)
  if (typeof value !== 'object') return undefined
  if (Array.isArray(value)) return `[${value.map((item) => toJson(item) ?? 'null').join()}]`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'null' : quote(value.toISOString())
  const { toJSON } = value as { toJSON?: unknown }
  // Of a class such as URL.
  if (typeof toJSON === 'function' && toJSON !== Object(Object.prototype).toJSON) return toJson(toJSON.call(value))
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = toJson(member)
    return text === undefined ? [] : [`${quote(name)}:${text}`]
  })
  return `{${members.join()}}`
}

function quote(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  // Lone surrogates have no UTF-8.
  return `"${text.replace(/["\\\p{Cc}\p{Cs}]/gu, escaped)}"`
}
