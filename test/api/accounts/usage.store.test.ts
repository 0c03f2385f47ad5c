import { describe, expect, it } from 'vitest'
import { createUsage } from '../../../api/accounts/usage.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { SERVICE_FAILURE_CODES } from '../../../api/shared/contract/error-codes.ts'
import type { ErrorCode } from '../../../api/shared/contract/errors.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('the usage of the service', async () => {
  const { database } = await openTestDatabase({ poolSize: 2 })

  it('separates failures of the service from refused images and from cancellations, which cost nothing', async () => {
    const caller = await createCaller(database, 10)
    const codes: (ErrorCode | null)[] = [
      ...([
        'GENERATION_FAILED',
        'GENERATION_TIMEOUT',
        'SAFETY_UNAVAILABLE',
        'NO_PERSON_DETECTED',
        'RESULT_REJECTED',
        'INVALID_IMAGE',
      ] as const),
      ...(['GENERATION_CANCELLED', null] as const),
    ]
    for (const code of codes) {
      const call = callOf(caller)
      await acceptGeneration(database, call)
      const failure = { id: call.generationId, attempt: null, message: 'It did not work.' }
      if (code !== null) await createGenerations(database).fail({ ...failure, code })
    }
    const usage = createUsage(database)
    const steps = await usage.countSteps({ hours: 24, step: 'hour' })
    expect(steps).toHaveLength(24)
    const counted = { failed: 3, refused: 3, cancelled: 1, unfinished: 1, completed: 0, credits: 1 }
    expect(steps.at(-1)).toMatchObject(counted)
    const failures = await usage.countFailures({ hours: 24 })
    expect(failures.map(({ code }) => code).sort()).toEqual(codes.filter((code) => code !== null).sort())
    const ofKind = (wanted: string) => failures.filter(({ kind }) => kind === wanted).map(({ code }) => code)
    expect(ofKind('failed').sort()).toEqual([...SERVICE_FAILURE_CODES].sort())
    expect(ofKind('cancelled')).toEqual(['GENERATION_CANCELLED'])
    expect(await usage.countPlaces({ hours: 24, limit: 9 })).toEqual([
      { engine: callOf(caller).engine, shopId: null, domain: null, failed: 3, ended: 7 },
    ])
    expect(await usage.countPlaces({ hours: 0, limit: 9 })).toEqual([])
  })

  it('measures the seconds from acceptance to completion, of an account alone too', async () => {
    const caller = await createCaller(database, 10)
    for (const seconds of [1, 2, 3, 10]) {
      const call = callOf(caller)
      await acceptGeneration(database, call)
      await database.query(sql.unsafe`
        update generations set status = 'COMPLETED', result_key = 'results/any.jpg',
          finished_at = created_at + make_interval(secs => ${seconds}) where id = ${call.generationId}`)
    }
    await acceptGeneration(database, callOf(caller))
    const steps = await createUsage(database).measureLatency({ hours: 24, step: 'hour', accountId: caller.accountId })
    expect(steps).toHaveLength(24)
    const { p50, p95, p99 } = steps[steps.length - 1]
    expect([p50, p95, p99].map((value) => value?.toFixed(2))).toEqual(['2.50', '8.95', '9.79'])
    expect(steps[0]).toMatchObject({ p50: null, p95: null, p99: null })
    const others = await createUsage(database).measureLatency({ hours: 24, step: 'hour', accountId: 'acc_other' })
    expect(others.every((step) => step.p99 === null)).toBe(true)
  })
})
