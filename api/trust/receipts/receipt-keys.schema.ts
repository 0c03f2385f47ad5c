import { named } from '../../http/openapi/named-schema.ts'
import { type Static, Type } from '../../shared/contract/schema.ts'

export const ReceiptKeySet = named(
  'ReceiptKeys',
  Type.Object({
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        kid: Type.String({
          description: 'keyId of receipts: SHA-256 of the public key as SubjectPublicKeyInfo (DER).',
        }),
        x: Type.String({ description: 'The public key, in base64url.' }),
        use: Type.Literal('sig'),
      }),
    ),
  }),
)
export type ReceiptKeySet = Static<typeof ReceiptKeySet>
