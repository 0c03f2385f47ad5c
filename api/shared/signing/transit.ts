import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { DrapeError } from '../contract/errors.ts'
import { readBounded } from '../network/bounded-body.ts'

/** `https://host[/base]/v1/<mount>/keys/<name>` */
const TRANSIT_KEY_URL = /^(https?:\/\/.+\/v1\/.+)\/keys\/([\w.-]+)$/
/** A key with some thousand versions. */
const MAX_ANSWER_BYTES = 1024 * 1024
/** A token that can be a header. */
const TOKEN = /^[\x21-\x7e]+$/

export interface TransitOptions {
  /** URL of the server and the key, e.g. `https://bao.example:8200/v1/transit/keys/drape`. */
  readonly url: string
  /** Called for each request: an agent renews the token. */
  readonly readToken: () => Promise<string>
  readonly timeoutMs?: number
}

/** Calls the key service for one key. Every function returns the `data` of the answer. */
export interface Transit {
  /**
   * @throws Error when the service refuses the request itself
   * @throws DrapeError SERVICE_UNAVAILABLE when the service does not respond, or refuses the token
   */
  call(action: 'encrypt' | 'decrypt' | 'sign', body: Readonly<Record<string, unknown>>): Promise<TransitData>
  /** Type and versions of the key. Throws like `call`. */
  describe(): Promise<TransitData>
}

type TransitData = Readonly<Record<string, unknown>>

/** Whether a text is the URL of a transit key, without user, password, query or fragment. */
function isTransitKeyUrl(text: string): boolean {
  if (!TRANSIT_KEY_URL.test(text) || !URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username === '' && password === '' && search === '' && hash === ''
}

/** Access to one key of the transit engine of OpenBao or HashiCorp Vault. No error contains the token. */
export function createTransit({ url, readToken, timeoutMs = 5000 }: TransitOptions): Transit {
  const [, mount, name] = TRANSIT_KEY_URL.exec(url) ?? []
  if (mount === undefined || !isTransitKeyUrl(url)) throw new Error(`The URL of the transit key ${URL_RULE}`)

  async function request(path: string, action: string, body?: object): Promise<TransitData> {
    const token = await readToken().catch((cause) => {
      throw unavailable('needs a token, and its file cannot be read', cause)
    })
    // The error of fetch would contain the token.
    if (!TOKEN.test(token)) throw unavailable(`needs a token, which ${TOKEN_RULE}`)
    const response = await fetch(`${mount}/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-vault-token': token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((cause) => {
      throw unavailable('does not respond', cause)
    })
    const answer = await readAnswer(response)
    if (response.ok && answer?.data) return answer.data
    if (response.status === 400) throw new Error(`The key service refused to ${action}: ${answer?.errors}`)
    throw unavailable(`answered ${response.status}`, new Error(String(answer?.errors ?? 'no reason given')))
  }

  return {
    call: (action, body) => request(`${action}/${name}`, action, body),
    describe: () => request(`keys/${name}`, 'describe the key'),
  }
}

/** Null for an answer that is not JSON, or too large for an answer about one key. */
async function readAnswer({ body }: Response): Promise<TransitAnswer | null> {
  try {
    const { bytes, isCut } = await readBounded(body, MAX_ANSWER_BYTES)
    return isCut ? null : (JSON.parse(bytes.toString()) as TransitAnswer)
  } catch {
    return null
  }
}

interface TransitAnswer {
  readonly data?: TransitData
  readonly errors?: readonly string[]
}

/** Callers can read the message of a DrapeError, so the reason is in the cause. */
function unavailable(what: string, reason?: unknown): DrapeError {
  const cause = new Error(`The key service ${what}`, { cause: reason })
  return new DrapeError('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable.', { retryable: true, cause })
}

const URL_RULE = 'must be an address of a key, without user and password: https://host:8200/v1/transit/keys/NAME'
const TOKEN_RULE = 'must be one line of visible ASCII characters'

export interface TransitVariables {
  /** Prefix of the variables: `<prefix>_TRANSIT_KEY`, `<prefix>_TRANSIT_TOKEN` and `<prefix>_TRANSIT_TOKEN_FILE`. */
  readonly prefix: string
  readonly urls: readonly string[]
  readonly token: string
  readonly tokenFile: string
}

/**
 * Access to the keys that these variables name, in order. Adds a line to `problems` for each variable that is wrong; no line contains the
 * value of a variable. A token file that does not exist yet is no problem: an agent can write the file later.
 */
export function readTransits(
  { prefix, urls, token, tokenFile }: TransitVariables,
  problems: string[],
): TransitOptions[] {
  const variable = `${prefix}_TRANSIT_TOKEN`
  if (urls.length > 0 && (token === '') === (tokenFile === '')) {
    problems.push(`${prefix}_TRANSIT_KEY needs one of ${variable} and ${variable}_FILE`)
  }
  if (token !== '' && !TOKEN.test(token.trim())) problems.push(`${variable} ${TOKEN_RULE}`)
  const written = tokenFile === '' ? null : readNow(tokenFile)
  if (written !== null && !TOKEN.test(written)) problems.push(`The token in ${variable}_FILE ${TOKEN_RULE}`)
  if (!urls.every(isTransitKeyUrl)) {
    problems.push(`${prefix}_TRANSIT_KEY ${URL_RULE}`)
    return []
  }
  const readToken = async () => (tokenFile === '' ? token : await readFile(tokenFile, 'utf8')).trim()
  return urls.map((url) => ({ url, readToken }))
}

function readNow(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}
