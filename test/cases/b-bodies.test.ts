import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { type ClientRequest, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { wrongClock } from '../support/clock.ts'
import { formOf, readSample, startDrape } from '../support/drape.ts'
import { startProgram } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const UPLOAD = '/tryon/v1/images/upload'
const LONG = process.env.LONG_TESTS === '1'

describe('request bodies', async () => {
  const temporary = (await requestService('folder', null)).path
  const drape = await startDrape({ env: { TMPDIR: temporary } })
  const person = await readSample('persons/astronaut.jpg')
  afterAll(() => drape.stop())

  const partOf = (disposition: string, bytes: Uint8Array | string = '', type?: string) =>
    Buffer.concat([
      Buffer.from(`Content-Disposition: form-data; ${disposition}\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n`),
      Buffer.from(bytes as Uint8Array),
    ])
  const multipart = (parts: readonly Buffer[], boundary: string) =>
    Buffer.concat([
      ...parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part, Buffer.from('\r\n')]),
      Buffer.from(`--${boundary}--\r\n`),
    ])
  const photo = () => partOf('name="file"; filename="me.jpg"', person, 'image/jpeg')
  /** Sends the bytes unchanged; a stream is sent chunked, without Content-Length. */
  const send = async (body: Uint8Array | Readable, contentType: string, { path = UPLOAD, headers = {} } = {}) => {
    const response = await fetch(`${drape.api.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': drape.apiKey, 'content-type': contentType, ...headers },
      body: body instanceof Readable ? (Readable.toWeb(body) as ReadableStream) : new Uint8Array(body),
      duplex: 'half',
    } as RequestInit)
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what the service says, whatever its shape is
    return { status: response.status, body: (await response.json()) as any }
  }
  const upload = (parts: readonly Buffer[], { boundary = 'x-y-z', quoted = false } = {}) =>
    send(multipart(parts, boundary), `multipart/form-data; boundary=${quoted ? `"${boundary}"` : boundary}`)
  const countRows = () =>
    drape.database.one(sql.unsafe`
      select (select count(*) from images)::int as images, (select count(*) from objects)::int as objects`)
  const objects = async () => (await readdir(drape.env.STORAGE_URL.slice('file:'.length), { recursive: true })).sort()
  const temporaryFiles = async (): Promise<string[]> => {
    // A folder can be deleted while it is read.
    const names = await readdir(temporary, { recursive: true }).catch(() => temporaryFiles())
    return names.filter((name) => name !== 'drape-uploads' && name.startsWith('drape-uploads'))
  }
  const untilNoTemporaryFiles = () => until(async () => (await temporaryFiles()).length === 0)
  const assertAlive = async () => expect((await drape.call('GET', '/tryon/v1/account')).status).toBe(200)

  describe('in multipart', () => {
    it.each([
      ['one character', 'x', false],
      ['one quoted character', 'x', true],
      ['70 characters', 'b'.repeat(70), false],
      ['quoted characters with a space and a colon', 'a b:c/d', true],
      ['dashes alone', '----', false],
    ])('are accepted with a boundary of %s', async (_, boundary, quoted) => {
      expect((await upload([photo()], { boundary, quoted })).status).toBe(201)
    })

    it.each([
      ['no', 'multipart/form-data'],
      ['an empty', 'multipart/form-data; boundary='],
      ['an empty quoted', 'multipart/form-data; boundary=""'],
      ['another', 'multipart/form-data; boundary=other'],
    ])('are refused with %s boundary', async (_, contentType) => {
      const answer = await send(multipart([photo()], 'x-y-z'), contentType)
      expect(answer.status).toBe(400)
    })

    it.each([
      [71, false],
      [71, true],
      [4000, false],
    ])('are refused with a boundary of %i characters', async (length, quoted) => {
      const answer = await upload([photo()], { boundary: 'b'.repeat(length), quoted })
      const details = [{ path: 'Content-Type', message: 'must have a boundary of 1 to 70 characters' }]
      expect(answer).toMatchObject({ status: 400, body: { details } })
    })

    it('are accepted with bytes after the last boundary that arrive later', async () => {
      const body = multipart([photo()], 'x')
      const stream = Readable.from(
        (async function* () {
          yield body
          await sleep(50)
          yield '\r\n--x\r\nmore'
        })(),
      )
      expect((await send(stream, 'multipart/form-data; boundary=x')).status).toBe(201)
    })

    it.each([
      ['the boundary at the end', () => multipart([photo()], 'x').subarray(0, -5)],
      ['everything after the headers', () => Buffer.from('--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n')],
      ['everything after a header', () => Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filen')],
      ['everything after the first boundary', () => Buffer.from('--x\r\n')],
      ['everything', () => Buffer.alloc(0)],
      ['line ends', () => Buffer.from(multipart([photo()], 'x').toString('latin1').replaceAll('\r\n', '\n'), 'latin1')],
    ])('are refused without %s', async (_, bytes) => {
      const answer = await send(bytes(), 'multipart/form-data; boundary=x')
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ code: expect.any(String), message: expect.any(String) })
      await assertAlive()
    })

    it.each([
      ['empty', ''],
      ['of 10,000 characters', 'n'.repeat(10_000)],
      ['a way out of the folder', '../../../etc/cron.d/evil'],
      ['another way out', '..\\..\\windows\\evil.jpg'],
      ['absolute', '/etc/passwd'],
      ['with U+0000', 'a\0b.jpg'],
      ['written from right to left', 'gpj.\u202eexe'],
      ['with a quote', 'a\\"b.jpg'],
      ['in another script', '写真.jpg'],
      ['__proto__', '__proto__'],
    ])('are stored under a generated key when the file name is %s', async (_, filename) => {
      const answer = await upload([partOf(`name="file"; filename="${filename}"`, person, 'image/jpeg')])
      expect(answer.status).toBe(201)
      expect(new URL(answer.body.imageUrl).pathname).toBe(
        `/objects/persons/${drape.accountId}/${answer.body.imageId}.jpg`,
      )
    })

    it('cannot inject part headers by the file name', async () => {
      const disposition = 'name="file"; filename="a\r\nContent-Type: text/html\r\n\r\n<script>"'
      const answer = await upload([partOf(disposition, person, 'image/jpeg')])
      expect(answer.status).toBe(400)
    })

    it('are read without the end of endless part headers, at little memory', async () => {
      const endless = `name="file"; ${'filename="'.repeat(400_000)}x`
      const before = await memoryOf(drape.api.pid)
      expect((await upload([partOf(endless, person, 'image/jpeg')])).status).toBe(201)
      const field = Buffer.from(`Content-Disposition: form-data; name="a"\r\nX-${'y'.repeat(4_000_000)}: \r\n\r\n`)
      expect((await upload([field, photo()])).status).toBe(201)
      expect((await memoryOf(drape.api.pid)) - before).toBeLessThan(300)
      await assertAlive()
    })

    it('are accepted with part headers of 15,000 characters, however they are split into chunks', async () => {
      const body = multipart([partOf(`name="file"; filename="${'n'.repeat(15_000)}"`, person, 'image/jpeg')], 'x')
      const cuts = Array.from({ length: 4000 }, (_, i) => body.subarray(i * 5, (i + 1) * 5))
      const stream = Readable.from([...cuts, body.subarray(20_000)])
      expect((await send(stream, 'multipart/form-data; boundary=x')).status).toBe(201)
    })

    it('store the first of two files of one name and discard the second', async () => {
      const garment = await readSample('garments/tshirt-navy.jpg')
      const [one, two] = [photo(), partOf('name="file"; filename="b.jpg"', garment, 'image/jpeg')]
      // Whether an image is cropped depends on how fast a worker responds.
      const uncropped = partOf('name="crop"', 'false')
      const alone = await upload([uncropped, one])
      const both = await upload([uncropped, one, two])
      expect(both.status).toBe(201)
      const bytes = await Promise.all(
        [alone, both].map(async ({ body }) => Buffer.from(await (await fetch(body.imageUrl)).arrayBuffer())),
      )
      expect(bytes[1].equals(bytes[0])).toBe(true)
    })

    it('leave no temporary file for parts named like members of JavaScript objects', async () => {
      const odd = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'].flatMap((name) => [
        partOf(`name="${name}"; filename="a.jpg"`, person, 'image/jpeg'),
        partOf(`name="${name}"`, 'text'),
      ])
      expect((await upload([...odd, photo()])).status).toBe(201)
      await untilNoTemporaryFiles()
    })

    it.each([
      ['1,000 fields', () => Array.from({ length: 1000 }, (_, i) => partOf(`name="f${i}"`, 'x'))],
      ['1,000 fields of one name', () => Array.from({ length: 1000 }, () => partOf('name="f"', 'x'))],
      [
        '1,000 files',
        () => Array.from({ length: 1000 }, (_, i) => partOf(`name="f${i}"; filename="a"`, 'x', 'image/png')),
      ],
      ['1,000 parts without a name', () => Array.from({ length: 1000 }, () => partOf('nothing="f"', 'x'))],
      ['a field of 2 MB', () => [partOf('name="externalUserId"', 'x'.repeat(2_000_000))]],
      ['a character that cannot be stored', () => [photo(), partOf('name="externalUserId"', 'a\0b')]],
    ])('are refused with %s', async (_, parts) => {
      const answer = await upload(parts())
      expect([400, 413]).toContain(answer.status)
      await assertAlive()
    })

    it.each([
      ['false delimiters', '\r\n--x-y-zX'],
      ['delimiters', '\r\n--x-y-z\r\n'],
      ['empty parts', '\r\n--x-y-z\r\n\r\n'],
    ])('are refused with 10 MB of %s', async (_, text) => {
      const content = text.repeat(10_000_000 / text.length)
      const answer = await upload([partOf('name="file"; filename="a"', content, 'image/png')])
      expect(answer).toMatchObject({ status: 400, body: { details: [{ message: 'has more than 100 parts' }] } })
    })

    it('are refused with a transfer encoding that changes the bytes', async () => {
      const encoded = partOf(
        'name="file"\r\nContent-Transfer-Encoding: base64',
        person.toString('base64'),
        'image/jpeg',
      )
      const details = [{ path: 'file', message: 'must not have the transfer encoding base64' }]
      expect(await upload([encoded])).toMatchObject({ status: 400, body: { details } })
    })

    it('are refused long before the end of a field of 1 GB', async () => {
      const chunk = Buffer.alloc(1 << 20, 'x')
      let sent = 0
      const answer = await streamTo(function* () {
        yield Buffer.from('--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n')
        for (; sent < 1024; sent++) yield chunk
      }, '/tryon/v1/try-on')
      expect([400, 413]).toContain(answer.status)
      expect(answer.sentAtAnswer).toBeLessThan(200 << 20)
      await assertAlive()
    })

    it('are refused long before the end of a file of 1 GB', async () => {
      const chunk = Buffer.alloc(1 << 20, 'x')
      const before = await memoryOf(drape.api.pid)
      const answer = await streamTo(function* () {
        yield Buffer.from(
          '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: image/png\r\n\r\n',
        )
        for (let i = 0; i < 1024; i++) yield chunk
      })
      expect(answer.status).toBe(413)
      expect(answer.sentAtAnswer).toBeLessThan(400 << 20)
      expect((await memoryOf(drape.api.pid)) - before).toBeLessThan(300)
      await untilNoTemporaryFiles()
    })
  })

  describe('that are not UTF-8', () => {
    const text = (value: Uint8Array) =>
      Buffer.concat([Buffer.from('{"externalId":"a","title":"'), value, Buffer.from('"}')])
    const INVALID = [
      ['Latin-1', Buffer.from('Größe', 'latin1')],
      ['an overlong slash', Buffer.from([0xc0, 0xaf])],
      ['an overlong U+0000', Buffer.from([0xc0, 0x80])],
      ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
      ['half a character', Buffer.from([0xe2, 0x82])],
      ['a character beyond U+10FFFF', Buffer.from([0xf4, 0x90, 0x80, 0x80])],
    ] as const

    it.each(INVALID)('are refused with %s', async (_, value) => {
      const message = 'must be UTF-8'
      expect(await send(text(value), 'application/json', { path: '/tryon/v1/products' })).toMatchObject({
        ...{ status: 400, body: { code: 'VALIDATION_FAILED', details: [{ path: '', message }] } },
      })
      const form = multipart([partOf('name="data"', text(value))], 'x')
      expect(await send(form, 'multipart/form-data; boundary=x', { path: '/tryon/v1/products' })).toMatchObject({
        ...{ status: 400, body: { code: 'VALIDATION_FAILED', details: [{ path: 'data', message }] } },
      })
      expect(await upload([photo(), partOf('name="externalUserId"', value)])).toMatchObject({
        ...{ status: 400, body: { code: 'VALIDATION_FAILED', details: [{ path: 'externalUserId', message }] } },
      })
    })

    it('are refused as UTF-16, whatever their content type says', async () => {
      const utf16 = Buffer.from('\ufeff{"externalId":"a"}', 'utf16le')
      for (const [bytes, charset] of [
        [utf16, 'utf-16'],
        [Buffer.from(utf16).swap16(), 'utf-16be'],
        [utf16.subarray(2), 'utf-16le'],
      ] as const) {
        const answer = await send(bytes, `application/json; charset=${charset}`, { path: '/tryon/v1/products' })
        expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
      }
    })

    it('are accepted with a byte order mark of UTF-8', async () => {
      const images = [{ source: { fileKey: 'a' } }]
      const data = `\ufeff${JSON.stringify({ externalId: 'marked', title: 'Größe', images })}`
      const parts = [partOf('name="data"', data), partOf('name="a"; filename="a.jpg"', person, 'image/jpeg')]
      const options = { path: '/tryon/v1/products' }
      expect(await send(multipart(parts, 'x'), 'multipart/form-data; boundary=x', options)).toMatchObject({
        status: 200,
        body: { title: 'Größe' },
      })
      const json = Buffer.from(`\ufeff${JSON.stringify({ externalId: 'marked', title: 'Größer' })}`)
      expect(await send(json, 'application/json', options)).toMatchObject({ status: 200, body: { title: 'Größer' } })
    })
  })

  describe('in JSON', () => {
    const json = (body: Uint8Array | Readable, headers = {}) =>
      send(body, 'application/json', { path: '/tryon/v1/products', headers })

    it('are refused if they decompress to more than 1 MB, or have another content encoding', async () => {
      const bomb = gzipSync(Buffer.alloc(100_000_000, ' '))
      const before = await memoryOf(drape.api.pid)
      const answer = await json(bomb, { 'content-encoding': 'gzip' })
      expect([400, 413]).toContain(answer.status)
      expect((await memoryOf(drape.api.pid)) - before).toBeLessThan(200)
      const unknown = await json(Buffer.from('{}'), { 'content-encoding': 'zstd' })
      expect(unknown.status).toBe(400)
      const broken = await json(Buffer.from('no gzip'), { 'content-encoding': 'gzip' })
      expect(broken.status).toBe(400)
      const packed = await send(gzipSync(multipart([photo()], 'x')), 'multipart/form-data; boundary=x', {
        headers: { 'content-encoding': 'gzip' },
      })
      expect(packed.status).toBe(400)
      await assertAlive()
    })
  })

  describe('of clients', () => {
    it('that disconnect during an upload leave no temporary file, object or row', async () => {
      const before = [await countRows(), await objects()]
      const body = multipart([photo(), photo(), photo()], 'x')
      for (let i = 0; i < 40; i++) {
        const socket = await openUpload(body.length)
        socket.write(body.subarray(0, Math.floor((body.length * (i + 1)) / 45)))
        if (i % 2 === 0) await sleep(i)
        socket.destroy()
      }
      await untilNoTemporaryFiles()
      expect([await countRows(), await objects()]).toEqual(before)
      await assertAlive()
    })

    it('of a killed API leave temporary files that the next API deletes, and only old ones', async () => {
      const [old, young] = ['upload-old', 'upload-young'].map((name) => `${temporary}/drape-uploads/${name}`)
      for (const folder of [old, young]) {
        await mkdir(folder)
        await writeFile(`${folder}/photo`, person)
      }
      await utimes(old, 0, 0)
      // Even a clock that is an hour fast does not make the young folder old.
      const api = await startProgram('api', { ...drape.env, ...wrongClock(3600) }, { separate: true })
      await until(async () => !(await temporaryFiles()).includes('drape-uploads/upload-old'))
      await api.end()
      expect((await temporaryFiles()).sort()).toEqual([
        'drape-uploads/upload-young',
        'drape-uploads/upload-young/photo',
      ])
      await rm(young, { recursive: true })
    })

    it('that are slow do not block other uploads', async () => {
      const slow = await Promise.all(Array.from({ length: LONG ? 500 : 50 }, () => openUpload(1_000_000)))
      const dripping = setInterval(() => {
        for (const socket of slow) socket.write('x')
      }, 100)
      try {
        await sleep(500)
        for (let i = 0; i < 5; i++) {
          const answer = await drape.call('POST', UPLOAD, { body: formOf(undefined, { file: person }) })
          expect(answer.status).toBe(201)
        }
        if (LONG) await until(() => slow.every((socket) => socket.destroyed))
      } finally {
        clearInterval(dripping)
        for (const socket of slow) socket.destroy()
      }
    })
  })

  /** Opens a connection and sends the headers of an upload of `length` bytes and the beginning of its file. */
  async function openUpload(length: number): Promise<Socket> {
    const { hostname, port } = new URL(drape.api.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {}).on('end', () => socket.destroy())
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.resume()
    socket.write(
      [
        `POST ${UPLOAD} HTTP/1.1`,
        'host: drape',
        `x-api-key: ${drape.apiKey}`,
        'content-type: multipart/form-data; boundary=x',
        `content-length: ${length + 1}`,
        '',
        length === 1_000_000 ? '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' : '',
      ].join('\r\n'),
    )
    return socket
  }

  /** Sends chunks until the response arrives. */
  async function streamTo(
    chunks: () => Iterable<Buffer>,
    path = UPLOAD,
  ): Promise<{ status: number; sentAtAnswer: number }> {
    const { hostname, port } = new URL(drape.api.url)
    const headers = { 'x-api-key': drape.apiKey, 'content-type': 'multipart/form-data; boundary=x' }
    const sending: ClientRequest = request({ hostname, port, path, method: 'POST', headers })
    let answered = false
    let sent = 0
    const answer = new Promise<number>((resolve, reject) => {
      sending.once('response', (response) => {
        answered = true
        resolve(response.statusCode ?? 0)
        response.resume()
      })
      sending.on('error', reject)
    })
    for (const chunk of chunks()) {
      if (answered) break
      sent += chunk.length
      if (!sending.write(chunk)) await Promise.race([new Promise((resolve) => sending.once('drain', resolve)), answer])
    }
    const status = await answer
    sending.destroy()
    return { status, sentAtAnswer: sent }
  }
})

/** Resident memory of a process in MiB. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}
