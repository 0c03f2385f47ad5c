import { named } from '../http/openapi/named-schema.ts'
import { type Static, Type } from '../shared/contract/schema.ts'

const hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })
const time = (description: string) => Type.String({ format: 'date-time', description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const strict = { additionalProperties: false }

const PLACES = ['database', 'objectStorage', 'workers', 'caches', 'erasureLog'] as const

/** The signed part: only strings, whole numbers, lists and objects, so that its canonical form is the same in every language. */
const Statement = Type.Object(
  {
    type: Type.Literal('drape/erasure-receipt'),
    version: Type.Literal(1),
    id: Type.String({ description: 'The erasureId.' }),
    installation: Type.String({ description: 'Address of the installation that issued the receipt.' }),
    account: Type.String(),
    customer: hash('SHA-256 of the account ID, a line feed and the externalUserId.'),
    requestedAt: time('When the first data was erased.'),
    erasedAt: time('When the erasure found no more data of the end user.'),
    issuedAt: time('When all confirmations were complete.'),
    objects: Type.Object(
      {
        count: count('Number of erased images.'),
        bytes: count('Total size of the erased images; an image of unknown size counts as 0.'),
        byKind: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
          description: 'Number of erased images by kind: person, result or upload.',
        }),
        merkleRoot: hash('Root of the Merkle tree over the leaves.'),
      },
      strict,
    ),
    rows: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: 'Rows of the database that were deleted or lost their link to the end user, by table.',
    }),
    cancelledJobs: count('Number of cancelled try-ons, which were waiting or running.'),
    confirmations: Type.Array(
      Type.Object(
        {
          place: Type.Enum([...PLACES]),
          confirmedAt: time('When the place confirmed the erasure.'),
          how: Type.String(),
        },
        strict,
      ),
    ),
    kept: Type.Array(
      Type.Object({ what: Type.String(), count: count('Number of records.'), reason: Type.String() }, strict),
      {
        description: 'Records that the installation keeps, with the reason.',
      },
    ),
  },
  strict,
)
export type Statement = Static<typeof Statement>

export const Receipt = named(
  'ErasureReceipt',
  Type.Object(
    {
      statement: Statement,
      signature: Type.Object(
        {
          algorithm: Type.Literal('Ed25519'),
          keyId: hash('SHA-256 of the public key as SubjectPublicKeyInfo (DER).'),
          publicKey: Type.String({ description: 'The 32 bytes of the public key, in base64.' }),
          value: Type.String({ description: 'The 64 bytes of the signature, in base64.' }),
        },
        strict,
      ),
      leaves: Type.Array(hash('SHA-256 of a zero byte and the key of the object.'), {
        description: 'One leaf per erased object, in ascending order.',
      }),
    },
    strict,
  ),
)
export type Receipt = Static<typeof Receipt>

/**
 * The bytes that the signature covers: a line that names the purpose, then the statement in the canonical form of RFC 8785, which for
 * strings, whole numbers and names in ASCII is JSON without spaces and with sorted names.
 */
export function signedBytes(statement: unknown): Buffer {
  return Buffer.from(`drape-erasure-receipt-v1\n${canonical(statement)}`)
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}
