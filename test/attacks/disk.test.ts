import { readdir, stat } from 'node:fs/promises'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { formOf, readSample, startDrape } from '../support/drape.ts'
import { requestService } from '../support/request-service.ts'
import { createDevelopmentShop } from '../support/shop.ts'
import { until } from '../support/until.ts'

const MB = 1024 * 1024
const PART = '--x\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'

describe('bodies that never end', async () => {
  const stalled: ClientRequest[] = []

  const folder = (await requestService('folder', null)).path
  const photo = await readSample('persons/down-half-teal.jpg')
  // 24 MB for an account, 16 MB for shoppers.
  const drape = await startDrape({ env: { TMPDIR: folder, UPLOAD_DISK_MB: process.env.SHOW_DISK ?? '64' } })
  const shop = await createDevelopmentShop(drape)
  afterAll(async () => {
    endStalled()
    await drape.stop()
  })

  /** Sends 9 MB and never the end. Resolves with the status and `Retry-After`, or with null once all is sent. */
  const stall = (url: string, method: string, headers: Readonly<Record<string, string>>, start: string) => {
    const call = request(url, { method, headers: { ...headers, 'content-length': String(10 * MB) }, agent: false })
    stalled.push(call)
    const done = Promise.withResolvers<{ status: number; retryAfter: string | undefined } | null>()
    call.on('error', () => {})
    call.on('response', ({ statusCode = 0, headers }) => {
      done.resolve({ status: statusCode, retryAfter: headers['retry-after'] })
    })
    call.write(Buffer.concat([Buffer.from(start), Buffer.alloc(9 * MB, 1)]), () => setTimeout(done.resolve, 500, null))
    return done.promise
  }
  const endStalled = () => {
    for (const call of stalled.splice(0)) call.destroy()
  }
  const megabytesOnDisk = async () => {
    // A folder may be deleted while it is read.
    const entries = await until(() => readdir(folder, { recursive: true, withFileTypes: true }).catch(() => null))
    const files = entries.filter((entry) => entry.isFile())
    const sizes = await Promise.all(
      files.map(({ parentPath, name }) => stat(join(parentPath, name)).catch(() => ({ size: 0 }))),
    )
    return sizes.reduce((sum, { size }) => sum + size, 0) / MB
  }
  const upload = async (key: string) => {
    const body = formOf(undefined, { file: photo })
    return (await drape.call('POST', '/tryon/v1/images/upload', { key, body })).status
  }

  it('fill no more of the disk than the budget of their account, and cost another account nothing', async () => {
    const headers = { 'x-api-key': drape.apiKey, 'content-type': 'multipart/form-data; boundary=x' }
    const stalls = Array.from({ length: 6 }, () =>
      stall(`${drape.api.url}/tryon/v1/images/upload`, 'POST', headers, PART),
    )
    const answers = await Promise.all(stalls)
    const onDisk = await megabytesOnDisk()
    if (process.env.SHOW_COST) console.log(`COST ${onDisk.toFixed()} MB on disk of one account`)
    expect(onDisk).toBeLessThanOrEqual(24)
    // Those within the budget go on.
    expect(onDisk).toBeGreaterThanOrEqual(9)
    expect(answers).toContainEqual({ status: 503, retryAfter: '5' })
    expect(await upload((await drape.createAccount(1)).apiKey)).toBeLessThan(300)
    endStalled()
    await until(async () => (await megabytesOnDisk()) === 0)
    expect(await upload(drape.apiKey)).toBeLessThan(300)
  })

  it('that shoppers send by links fill no more than the budget of shoppers, and cost accounts nothing', async () => {
    const prepare = async (name: string) => {
      const headers = { ...shop.headers, 'x-service-anonymous-id': `anon_${name}` }
      return (await drape.call('POST', '/public/prepare-upload', { key: null, headers })).body.uploadUrl as string
    }
    const urls = await Promise.all(['a', 'b', 'c', 'd'].map(prepare))
    const answers = await Promise.all(urls.map((url) => stall(url, 'PUT', {}, '')))
    const onDisk = await megabytesOnDisk()
    if (process.env.SHOW_COST) console.log(`COST ${onDisk.toFixed()} MB on disk by links`)
    expect(onDisk).toBeLessThanOrEqual(16)
    expect(answers).toContainEqual({ status: 503, retryAfter: '5' })
    expect(await upload(drape.apiKey)).toBeLessThan(300)
    endStalled()
    await until(async () => (await megabytesOnDisk()) === 0)
  })

  it('have one file where a shopper sends a photo', async () => {
    const headers = { ...shop.headers, 'x-service-anonymous-id': 'anon_two' }
    const send = (files: Record<string, Buffer>) =>
      drape.call('POST', '/public/upload-image', { key: null, headers, body: formOf(undefined, files) })
    expect((await send({ file: photo, other: photo })).status).toBe(400)
    expect((await send({ file: photo })).status).toBe(201)
  })
})
