import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Connection } from '../../controller/runtime/connection.ts'

export interface Question {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  readonly contentType?: string
}

/** The API server's answer to a request that the controller's client does not make. Throws an Error with what it says against it. */
export async function askApiServer({ config }: Connection, question: Question): Promise<string> {
  const { method = 'GET', path, query = {}, body, contentType = 'application/json' } = question
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const url = `${config.getCurrentCluster()?.server}${path}?${new URLSearchParams(query)}`
  const payload = body === undefined ? '' : JSON.stringify(body)
  // Node frames no body of a DELETE by itself, and the server would then read none.
  const framing = { 'content-type': contentType, 'content-length': Buffer.byteLength(payload) }
  const sent = request(url, { ...options, method, headers: { ...options.headers, ...framing } }).end(payload)
  const [response]: IncomingMessage[] = await once(sent, 'response')
  const answer = await text(response)
  if ((response.statusCode ?? 0) >= 300) throw new Error(JSON.parse(answer).message)
  return answer
}
