import { type Static, Type } from '../../shared/contract/schema.ts'

export const EmailBody = Type.Object({
  email: Type.String({ format: 'email', maxLength: 254, examples: ['anna@example.com'] }),
  marketingConsent: Type.Boolean({
    default: false,
    description: 'Whether the shopper has agreed to receive marketing e-mails.',
  }),
})

export const EmailAnswer = Type.Object({
  success: Type.Boolean(),
  message: Type.String({ description: 'For logs. Not meant for shoppers.' }),
})
export type EmailAnswer = Static<typeof EmailAnswer>
