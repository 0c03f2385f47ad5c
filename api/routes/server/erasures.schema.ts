import { named } from '../../openapi/named-schema.ts'
import { Receipt } from '../../receipts/receipt.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'
import { CONFIRMATIONS } from '../../stores/erasures.ts'

export const Erasure = named(
  'Erasure',
  Type.Object({
    erasureId: Type.String(),
    status: Type.Enum(['PENDING', 'ISSUED'], { description: 'ISSUED: the receipt is there, and never changes.' }),
    waitsFor: Nullable(
      Type.Enum([...CONFIRMATIONS], {
        description: `While PENDING, what has not confirmed the erasure yet. erasure: the call is deleting, or has failed and must be repeated.
workers: a worker has to drop a job. caches: entries have to expire, 1 minute, of shoppers of a shop 5. uploads: bytes of the last 10 minutes may
still arrive. storage: an object arrived late, and the next sweep deletes it. erasureLog: the entry of the log is missing.`,
      }),
    ),
    requestedAt: Type.String({ format: 'date-time' }),
    erasedAt: Nullable(
      Type.String({ format: 'date-time', description: 'When nothing of the end user was found any more.' }),
    ),
    issuedAt: Nullable(Type.String({ format: 'date-time' })),
    receipt: Nullable(Receipt),
  }),
)
export type Erasure = Static<typeof Erasure>
