import { named } from '../../openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'

export const RemovalFields = Type.Object({
  email: Type.String({ format: 'email', maxLength: 254, description: 'Where operators can ask back.' }),
  reason: Type.String({
    minLength: 3,
    maxLength: 1000,
    description: 'Who is in the image, and why it should be removed.',
  }),
  reference: Type.Optional(
    Type.String({
      pattern: '^[0-9A-Za-z]{22}$',
      description:
        'A random reference number. The same form sent twice with it is one request. Default: the service makes one.',
    }),
  ),
})
export type RemovalFields = Static<typeof RemovalFields>

export const RemovalStatusAnswer = named(
  'RemovalRequest',
  Type.Object({
    reference: Type.String({ description: 'Reference number. Anyone who has it can read the state of the request.' }),
    state: Type.Enum(['OPEN', 'ERASING', 'ERASED', 'DECLINED'], {
      description:
        'OPEN: no operator has decided yet. ERASING: granted; images are being erased. ERASED: the images are erased.',
    }),
    answer: Nullable(Type.String({ description: 'Why an operator declined.' })),
    createdAt: Type.String({ format: 'date-time' }),
    dueAt: Type.String({
      format: 'date-time',
      description: 'When the request should be decided: 48 hours after it was made.',
    }),
    decidedAt: Nullable(Type.String({ format: 'date-time' })),
  }),
)
export type RemovalStatusAnswer = Static<typeof RemovalStatusAnswer>
