import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto'
import { type Static, Type } from '../../api/shared/contract/schema.ts'

/** Whether an existing Secret may lack the key: nothing depends on its value yet. */
const addable = Type.Optional(Type.Boolean())

const SecretKeySchema = Type.Union([
  Type.Object(
    {
      /** Number of random letters and digits. */
      alphanumeric: Type.Integer({ minimum: 16, maximum: 128 }),
      addable,
    },
    { additionalProperties: false },
  ),
  /** Number of random bytes, in base64. */
  Type.Object({ base64Bytes: Type.Integer({ minimum: 16, maximum: 128 }) }, { additionalProperties: false }),
  /** A private key as PEM (PKCS #8). */
  Type.Object({ privateKey: Type.Literal('ed25519'), addable }, { additionalProperties: false }),
  /** Text in which `{name}` is the value of another key. */
  Type.Object({ text: Type.String() }, { additionalProperties: false }),
])

/** Keys of a Secret by name, and how the value of each is generated. */
export const SecretKeysSchema = Type.Record(Type.String(), SecretKeySchema)
export type SecretKeys = Static<typeof SecretKeysSchema>
/** Values of a Secret by key, in base64 as in the API. */
export type SecretData = Readonly<Record<string, string>>

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * The keys that a Secret lacks, with values; an empty value counts as absent. Existing values are never part of the result.
 * `missing` names keys of an existing Secret that must not be generated again, because data may depend on the lost value.
 */
export function completeData(keys: SecretKeys, existing: SecretData | null): { added: SecretData; missing: string[] } {
  const lacking = Object.entries(keys).filter(([name]) => !existing?.[name])
  const missing = lacking.filter(([, key]) => existing !== null && !isAddable(key)).map(([name]) => name)
  if (missing.length > 0) return { added: {}, missing }
  const values = new Map(Object.entries(existing ?? {}).map(([name, value]) => [name, decode(value)]))
  for (const [name, key] of lacking) {
    if (!('text' in key)) values.set(name, generate(key))
  }
  for (const [name, key] of lacking) {
    if ('text' in key)
      values.set(
        name,
        key.text.replace(/\{([\w-]+)\}/g, (_, other) => values.get(other) ?? ''),
      )
  }
  return { added: Object.fromEntries(lacking.map(([name]) => [name, encode(values.get(name) ?? '')])), missing }
}

function isAddable(key: SecretKeys[string]): boolean {
  return 'text' in key || ('addable' in key && key.addable === true)
}

function generate(key: Exclude<SecretKeys[string], { text: string }>): string {
  if ('privateKey' in key)
    return generateKeyPairSync(key.privateKey).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  if ('base64Bytes' in key) return randomBytes(key.base64Bytes).toString('base64')
  return Array.from({ length: key.alphanumeric }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString()
}
