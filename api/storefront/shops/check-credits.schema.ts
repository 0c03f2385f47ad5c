import { type Static, Type } from '../../shared/contract/schema.ts'

export const CreditCheck = Type.Object({
  allowed: Type.Boolean({ description: 'Whether a generation would be accepted; up to 2 minutes old.' }),
})
export type CreditCheck = Static<typeof CreditCheck>
