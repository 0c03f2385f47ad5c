import { afterAll, describe, expect, it } from 'vitest'
import { Nullable, Type } from '../../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../../api/shared/database/database.ts'
import { verifyReceipt } from '../../../../api/trust/receipts/verify.ts'
import { readSample, readSmallPerson, startDrape } from '../../../support/drape.ts'
import { createShopperCalls } from '../../../support/shopper-calls.ts'
import { startTransitServer } from '../../../support/transit-server.ts'
import { until } from '../../../support/until.ts'

const State = rowType(
  Type.Object({ status: Type.String(), attempt: Type.Integer(), errorCode: Nullable(Type.String()) }),
)
const Count = rowType(Type.Object({ count: Type.Integer() }))

describe('an installation with its keys in a key service', async () => {
  const person = await readSmallPerson()
  const shirt = await readSample('garments/tshirt-navy.jpg')
  const server = await startTransitServer()
  server.isSealed = true
  const key = (prefix: string) => ({
    [`${prefix}_TRANSIT_KEY`]: server.keyUrl,
    [`${prefix}_TRANSIT_TOKEN`]: server.token,
  })
  const drape = await startDrape({ credits: 100, env: key('RECEIPT') })
  const worker = drape.startWorker(key('PROVENANCE'))
  afterAll(async () => {
    await worker
    await drape.stop()
    await server.stop()
  })

  const tryOn = async () => {
    const imageId = await createShopperCalls(drape, person).upload('anna')
    return drape.tryOn(
      {
        products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { id: imageId } } },
        externalUserId: 'anna',
        output: { engine: 'mock' },
      },
      { shirt },
    )
  }
  const stateOf = (id: string) =>
    drape.database.one(
      sql.type(State)`select status, attempt, error_code as "errorCode" from generations where id = ${id}`,
    )
  const asks = async () => {
    const before = server.countCalls()
    await until(() => server.countCalls() > before + 2)
  }
  const isReady = async () => (await fetch(`${(await worker).probeUrl}/readyz`)).ok
  const countKeys = () => drape.database.oneFirst(sql.type(Count)`select count(*)::int as count from receipt_keys`)
  const keyIds = async (): Promise<string[]> =>
    (await drape.call('GET', '/receipts/keys')).body.keys.map(({ kid }: { kid: string }) => kid)

  it('takes no job while the service is unavailable, at the start and later, and loses neither attempts nor the worker', async () => {
    const first = await tryOn()
    await asks()
    expect(await stateOf(first)).toEqual({ status: 'PENDING', attempt: 1, errorCode: null })
    server.isSealed = false
    expect((await drape.finish(first)).status).toBe('COMPLETED')
    await until(isReady)
    server.isSealed = true
    const second = await tryOn()
    await until(async () => !(await isReady()))
    await until(async () => (await stateOf(second)).status === 'PENDING')
    server.isSealed = false
    expect((await drape.finish(second)).status).toBe('COMPLETED')
    expect((await stateOf(second)).attempt).toBe(1)
    expect((await worker).output()).not.toContain(server.token)
  })

  it('signs receipts with the service, and publishes all key versions before the first receipt', async () => {
    await until(async () => (await countKeys()) === 1)
    server.rotate()
    await until(async () => (await countKeys()) === 2)
    const { headers } = await drape.call('DELETE', '/tryon/v1/customers/anna')
    const path = headers.get('location') ?? ''
    await drape.database.query(sql.unsafe`update objects set created_at = created_at - interval '11 minutes'`)
    const read = async () => {
      await drape.database.query(sql.unsafe`update erasures set cached_until = now(), check_at = now()`)
      return (await drape.call('GET', path)).body
    }
    await until(async () => (await read()).status === 'ISSUED')
    const { receipt } = await read()
    const [newest] = await keyIds()
    expect(receipt.signature.keyId).toBe(newest)
    expect(verifyReceipt(JSON.stringify(receipt), [newest])).toMatchObject({ status: 'valid', problems: [] })
    expect(drape.api.output()).not.toContain(server.token)
  })
})
