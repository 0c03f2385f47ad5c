import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../../api/client/webhook.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { generateWebhookSecret } from '../../../api/shared/signing/webhook-signature.ts'
import { runDrape } from '../../support/command-line.ts'
import { startDrape } from '../../support/drape.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'

describe('drape listen, drape trigger and drape events resend', async () => {
  const running = new Set<ReturnType<typeof spawn>>()

  const receiver = await startWebhookReceiver()
  const drape = await startDrape()
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL')
    await drape.stop()
    await receiver.stop()
  })

  const variables = ({ key = drape.apiKey } = {}) => {
    const { DATABASE_URL: _, ...env } = process.env
    return { ...env, DRAPE_URL: drape.api.url, ...(key !== '' && { DRAPE_API_KEY: key }) }
  }
  const start = (args: string[]) => {
    const child = spawn(process.execPath, ['scripts/drape.ts', ...args], { env: variables() })
    running.add(child)
    child.once('close', () => running.delete(child))
    return child
  }
  const run = (args: string[], options?: { key: string }) => runDrape(args, variables(options))
  /** A listener that has started, with what it writes. */
  const listen = async (...args: string[]) => {
    const child = start(['listen', ...args, '--json'])
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    const lines = () => output.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    await until(() => lines().length > 0 || child.exitCode !== null)
    const stop = async () => {
      child.kill('SIGINT')
      const [code] = await once(child, 'close')
      return code
    }
    return { lines, stop, first: lines()[0] }
  }

  it('forwards events to the local port, signed with the printed secret', async () => {
    const { lines, stop, first } = await listen('--forward-to', `${receiver.port}/hook`)
    expect(first).toMatchObject({ forwardTo: `http://localhost:${receiver.port}/hook` })
    const triggered = await run(['trigger', 'generation.completed', '--json'])
    expect(triggered).toMatchObject({ code: 0, stderr: '' })
    const { eventId, deliveries } = JSON.parse(triggered.output)
    expect(deliveries).toBe(1)
    await until(() => receiver.received.length === 1 && lines().length === 2)
    const [webhook] = receiver.received
    expect(webhook.path).toBe('/hook')
    const { headers, body } = webhook
    const sent = { body, headers: headers as Record<string, string> }
    expect(await verifyWebhook(sent, first.secret)).toMatchObject({
      type: 'generation.completed',
      data: { accountId: drape.accountId, test: true },
    })
    await expect(verifyWebhook(sent, generateWebhookSecret())).rejects.toThrow('no valid signature')
    expect(lines()[1]).toMatchObject({ eventId, status: 204, ms: expect.any(Number) })

    receiver.moods.push({ status: 500 })
    const again = await run(['events', 'resend', eventId, '--json'])
    expect(JSON.parse(again.output)).toEqual({ eventId, deliveries: 1 })
    await until(() => receiver.received.length === 2 && lines().length === 3)
    expect(receiver.received[1]).toMatchObject({ id: eventId, body })
    expect(lines()[2]).toMatchObject({ eventId, status: 500 })
    expect(await stop()).toBe(0)
    const row = sql.unsafe`
      select last_status, expires_at <= now() as ended
      from webhook_deliveries join webhook_listeners on webhook_listeners.id = endpoint_id where event_id = ${eventId}`
    expect(await drape.database.one(row)).toEqual({ last_status: 500, ended: true })
  })

  it('prints events without a local port, and reports a refused connection', async () => {
    const printing = await listen()
    const nobody = await listen('--forward-to', 'http://localhost:1/hook', '--events', 'credits.low')
    const other = await run(['trigger', 'generation.failed', '--json'])
    expect(JSON.parse(other.output).deliveries).toBe(1)
    await run(['trigger', 'credits.low'])
    await until(() => printing.lines().length === 3 && nobody.lines().length === 2)
    expect(
      printing
        .lines()
        .slice(1)
        .map(({ type }) => type),
    ).toEqual(['generation.failed', 'credits.low'])
    expect(nobody.lines()[1]).toMatchObject({ type: 'credits.low', error: expect.stringContaining('ECONNREFUSED') })
    expect(await printing.stop()).toBe(0)
    await nobody.stop()
  })

  it('prints readable lines, and reads the secret from a file', async () => {
    const path = join((await requestService('folder', null)).path, 'secret')
    const secret = generateWebhookSecret()
    await writeFile(path, secret)
    const child = start(['listen', '--forward-to', String(receiver.port), '--secret-file', path])
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    await until(() => output.includes(`Signing secret: ${secret}`))
    await run(['trigger', 'webhook.test'])
    await until(() => /webhook\.test \(test\) evt_test_\S+ delivery \d+ → 204 in \d+ ms/.test(output))
    child.kill('SIGTERM')
    await once(child, 'close')
  })

  it('registers again after its listener has expired', async () => {
    const { lines, stop, first } = await listen()
    const sent = async () => JSON.parse((await run(['trigger', 'credits.low', '--json'])).output || '{"deliveries":0}')
    await drape.database.query(
      sql.unsafe`update webhook_listeners set expires_at = now() where id = ${first.listenerId}`,
    )
    await drape.database.query(sql.unsafe`
      insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
      values (${first.listenerId}, 'evt_late', 'credits.low', '{}', now())`)
    await until(async () => (await sent()).deliveries === 1)
    await until(() => lines().some(({ data }) => data?.test === true))
    await stop()
  })

  it('reports each error in one line', async () => {
    const refused = async (args: string[], options?: { key: string }) => {
      const { code, stderr, output } = await run(args, options)
      expect(output).toBe('')
      expect(stderr).not.toContain('    at ')
      return [code, stderr.split('\n')[0]]
    }
    expect(await refused(['trigger', 'credits.low'])).toEqual([
      1,
      'No listener receives credits.low. Run drape listen in another terminal, or name an endpoint with --endpoint.',
    ])
    expect(await refused(['trigger', 'credits.low', '--endpoint', 'endpoint_1'])).toEqual([
      1,
      expect.stringContaining('The endpoint endpoint_1 does not receive credits.low'),
    ])
    expect(await refused(['trigger', 'nonsense'])).toEqual([2, expect.stringContaining('Allowed choices are')])
    expect(await refused(['events', 'resend'])).toEqual([2, expect.stringContaining('missing required argument')])
    expect(await refused(['events', 'resend', 'evt_1'])).toEqual([1, expect.stringContaining('does not exist')])
    expect(await refused(['listen', '--forward-to', 'ftp://shop'])).toEqual([
      2,
      expect.stringContaining('--forward-to'),
    ])
    expect(await refused(['listen', '--events', 'nonsense'])).toEqual([2, expect.stringContaining('--events must be')])
    expect(await refused(['listen'], { key: '' })).toEqual([2, expect.stringContaining('DRAPE_API_KEY is not set')])
    expect(await refused(['listen'], { key: 'sk_wrong' })).toEqual([1, 'The API key is not valid.'])
  })
})
