import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'

export const VerifyFields = Type.Object({})

export const Provenance = named(
  'Provenance',
  Type.Object({
    status: Type.Enum(['valid', 'invalid', 'none'], {
      description:
        'valid: neither the image nor its Content Credentials were changed after they were signed. none: the image has no Content Credentials.',
    }),
    problems: Type.Array(Type.String(), { description: 'Human-readable reasons why the status is not valid.' }),
    madeHere: Type.Boolean({ description: 'True when the status is valid and a worker of this service signed it.' }),
    statement: Nullable(
      Type.Object({
        generator: Type.String({ description: 'Program that wrote the Content Credentials.' }),
        engine: Nullable(Type.String({ description: 'Name and version of the engine.' })),
        weights: Nullable(Type.String({ description: "SHA-256 of the list of the engine's model files." })),
        sourceType: Nullable(Type.String({ description: 'IPTC digital source type.' })),
        day: Nullable(Type.String({ description: 'Creation day.', examples: ['2026-11-25'] })),
        ingredients: Type.Array(
          Type.Object({
            title: Type.String(),
            name: Nullable(Type.String({ description: 'An HMAC of the image, whose key is the ingredientSalt.' })),
          }),
        ),
      }),
    ),
    signer: Nullable(
      Type.Object({
        subject: Type.String(),
        issuer: Type.String(),
        validUntil: Type.String({ format: 'date-time' }),
        keyFingerprint: Type.String({ description: 'SHA-256 of the public key.' }),
      }),
    ),
  }),
)
export type Provenance = Static<typeof Provenance>
