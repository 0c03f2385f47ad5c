import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { REVIEW_STATES } from './safety-reviews.store.ts'

export const AppealBody = Type.Object({
  reason: Type.String({
    minLength: 3,
    maxLength: 1000,
    description: 'Why the refusal is wrong. Operators read it. Without personal data.',
  }),
})
export type AppealBody = Static<typeof AppealBody>

export const Appeal = named(
  'Appeal',
  Type.Object({
    generationId: Type.String(),
    state: Type.Enum([...REVIEW_STATES], {
      description:
        'OPEN: no operator has decided yet. ALLOWED: the next try-on of the account with the same two images passes the check that refused, once. REFUSED: the refusal is upheld. BLOCKED: the refusal is upheld, and the image is refused from now on.',
    }),
    reason: Type.String(),
    byShopper: Type.Boolean({ description: 'Whether the shopper appealed, at `appealUrl` of the generation.' }),
    answer: Nullable(Type.String({ description: 'Answer of the operator.' })),
    createdAt: Type.String({ format: 'date-time' }),
    decidedAt: Nullable(Type.String({ format: 'date-time' })),
  }),
)
export type Appeal = Static<typeof Appeal>
