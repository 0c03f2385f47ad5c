import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto'
import { type Static, Type } from '../../api/shared/contract/schema.ts'

const SecretKeySchema = Type.Union([
  Type.Object(
    {
      /** Number of random letters and digits. */
      alphanumeric: Type.Integer({ minimum: 16, maximum: 128 }),
      /** Whether only texts use the value, so that it is no key of the Secret. */
      internal: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  /** Number of random bytes, in base64. */
  Type.Object({ base64Bytes: Type.Integer({ minimum: 16, maximum: 128 }) }, { additionalProperties: false }),
  /** A private key as PEM (PKCS #8). */
  Type.Object({ privateKey: Type.Literal('ed25519') }, { additionalProperties: false }),
  /** Text in which `{name}` is the value of another key. */
  Type.Object({ text: Type.String() }, { additionalProperties: false }),
])

/** Keys of a Secret by name, and how the value of each is generated. */
export const SecretKeysSchema = Type.Record(Type.String(), SecretKeySchema)
export type SecretKeys = Static<typeof SecretKeysSchema>
/** Values of a Secret by key, in base64 as in the API. */
export type SecretData = Readonly<Record<string, string>>

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Names of the keys that the Secret has. */
export function storedKeys(keys: SecretKeys): string[] {
  return Object.entries(keys).flatMap(([name, key]) => ('internal' in key && key.internal ? [] : [name]))
}

/** A value for each key of the Secret. */
export function generateData(keys: SecretKeys): SecretData {
  const values = new Map<string, string>()
  for (const [name, key] of Object.entries(keys)) {
    if (!('text' in key)) values.set(name, generate(key))
  }
  for (const [name, key] of Object.entries(keys)) {
    if ('text' in key)
      values.set(
        name,
        key.text.replace(/\{([\w-]+)\}/g, (_, other) => values.get(other) ?? ''),
      )
  }
  return Object.fromEntries(
    storedKeys(keys).map((name) => [name, Buffer.from(values.get(name) ?? '').toString('base64')]),
  )
}

function generate(key: Exclude<SecretKeys[string], { text: string }>): string {
  if ('privateKey' in key)
    return generateKeyPairSync(key.privateKey).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  if ('base64Bytes' in key) return randomBytes(key.base64Bytes).toString('base64')
  return Array.from({ length: key.alphanumeric }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
