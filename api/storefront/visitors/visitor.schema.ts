import { type Static, Type } from '../../shared/contract/schema.ts'

export const VisitorBody = Type.Object({
  captcha: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'Response of the CAPTCHA provider’s challenge, if the operator has configured a provider.',
    }),
  ),
})

export type VisitorBody = Static<typeof VisitorBody>

export const Visitor = Type.Object({
  visitorToken: Type.String({ description: 'Send it in X-Service-Visitor-Token with every call of this browser.' }),
  expiresAt: Type.String({ format: 'date-time' }),
})
export type Visitor = Static<typeof Visitor>
