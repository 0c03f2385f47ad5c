import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  readonly to: readonly string[]
  readonly raw: string
}

export interface MailServer {
  readonly url: string
  readonly received: readonly ReceivedMail[]
  /** Refuses recipients with this code while it is set. */
  refusal: number | null
  /** Refuses the sender with this code while it is set. */
  senderRefusal: number | null
  countRefusals(): number
  stop(): Promise<void>
}

/** An SMTP server that requires a password and keeps what it receives. */
export async function startMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = []
  let refusals = 0
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth: ({ username, password }, _session, callback) =>
      username === 'drape' && password === 'pass word'
        ? callback(null, { user: username })
        : callback(new Error('Invalid username or password')),
    onMailFrom: (_address, _session, callback) => {
      if (mail.senderRefusal === null) return callback()
      refusals++
      callback(Object.assign(new Error('No'), { responseCode: mail.senderRefusal }))
    },
    onRcptTo: (_address, _session, callback) => {
      if (mail.refusal === null) return callback()
      refusals++
      callback(Object.assign(new Error('No'), { responseCode: mail.refusal }))
    },
    onData: (stream, session, callback) => {
      buffer(stream).then((bytes) => {
        received.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw: bytes.toString() })
        callback()
      }, callback)
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const mail: MailServer = {
    received,
    refusal: null,
    senderRefusal: null,
    countRefusals: () => refusals,
    url: `smtp://drape:pass%20word@127.0.0.1:${port}?tls=none`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return mail
}
