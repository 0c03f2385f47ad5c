import { named } from '../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { CONFIRMATIONS } from './erasures.store.ts'
import { Receipt } from './receipt.ts'

export const Erasure = named(
  'Erasure',
  Type.Object({
    erasureId: Type.String(),
    status: Type.Enum(['PENDING', 'ISSUED'], {
      description: 'PENDING: the erasure is not confirmed yet. ISSUED: the receipt is signed and final.',
    }),
    waitsFor: Nullable(
      Type.Enum([...CONFIRMATIONS], {
        description: `While PENDING: the next confirmation that the receipt needs. erasure: the call is still deleting, or has failed and must be
repeated. workers: a worker must drop a job. caches: cached data expires within 1 minute, data of shoppers of a shop within 5. uploads: an upload of
the last 10 minutes may still arrive. storage: the next sweep deletes an object that arrived late. erasureLog: the log has no entry yet.`,
      }),
    ),
    requestedAt: Type.String({ format: 'date-time' }),
    erasedAt: Nullable(
      Type.String({ format: 'date-time', description: 'When the erasure found no more data of the end user.' }),
    ),
    issuedAt: Nullable(Type.String({ format: 'date-time' })),
    receipt: Nullable(Receipt),
  }),
)
export type Erasure = Static<typeof Erasure>
