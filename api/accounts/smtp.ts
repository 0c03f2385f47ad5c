import { createTransport } from 'nodemailer'
import { InvalidConfiguration } from '../shared/process/config.ts'

export interface Mail {
  /** One valid address, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly attachment?: { readonly name: string; readonly type: string; readonly content: string }
  /** The same for every attempt, so that mailboxes recognise duplicates. */
  readonly id: string
}

/**
 * `sent`: the server has the mail. `refused`: the server permanently refuses the mail or the recipient. `failed`: another attempt can succeed.
 * The reason contains no address.
 */
export type MailOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused' | 'failed'; readonly reason: string }

export type SendMail = (mail: Mail) => Promise<MailOutcome>

/** `smtps://` is TLS from the start; `smtp://` requires STARTTLS, unless the URL ends with `?tls=none`. */
const SMTP_URL = /^smtps?:\/\/[^\s]+$/

/** `a@b.example` or `Name <a@b.example>`. */
const SENDER = /^(?:[^\r\n<>,@]*<[^\s<>,@]+@[^\s<>,@]+>|[^\s<>,@]+@[^\s<>,@]+)$/

const TIMEOUT_MS = 20_000

export interface SmtpOptions {
  /** `smtps://user:password@host:465`; user and password are percent-encoded. */
  readonly url: string
  /** Sender, e.g. `Example Ltd <privacy@example.com>`. */
  readonly from: string
}

/**
 * Sends e-mails over SMTP, one connection each.
 * @throws Error that names the wrong variable, without its value
 */
export function createSendMail({ url, from }: SmtpOptions): SendMail {
  if (!SMTP_URL.test(url) || !URL.canParse(url))
    refuse('SMTP_URL must be the URL of a server: smtps://user:password@host:465')
  if (!SENDER.test(from)) refuse('MAIL_FROM must be one address: Example Ltd <privacy@example.com>')
  const { protocol, hostname, port, username, password, searchParams } = new URL(url)
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(secure || searchParams.get('tls') === 'none' ? {} : { requireTLS: true }),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // No content of a mail is read from a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return async ({ to, subject, text, attachment, id }) => {
    try {
      await transport.sendMail({
        // An object, so that the address is never parsed as a list.
        from,
        to: { name: '', address: to },
        subject,
        text,
        messageId: id,
        headers: { 'Auto-Submitted': 'auto-generated' },
        attachments: attachment && [
          { filename: attachment.name, contentType: attachment.type, content: attachment.content },
        ],
      })
      return { outcome: 'sent' }
    } catch (error) {
      return present(error)
    }
  }
}

/** Only the codes of an error: its message can contain the address or the password. */
function present(error: unknown): MailOutcome {
  const { code, command, responseCode } = Object(error) as { code?: string; command?: string; responseCode?: number }
  // A refused sender or a missing password is a fault of the configuration, which an operator can correct.
  const isRefused = (code === 'EENVELOPE' && command !== 'MAIL FROM') || code === 'EMESSAGE'
  return {
    outcome: isRefused && responseCode !== undefined && responseCode >= 500 ? 'refused' : 'failed',
    reason: [code ?? 'unknown', responseCode].filter(Boolean).join(' '),
  }
}

function refuse(problem: string): never {
  throw new InvalidConfiguration([problem])
}
