import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createDrapeClient } from '../api/client/node.ts'
import { UsageError } from './command-options.ts'
import { createMcpServer } from './mcp/server.ts'

/** A picture of 10 MB in base64, and what surrounds it. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

/**
 * Speaks the Model Context Protocol on standard input and output until input ends.
 * @throws UsageError without DRAPE_API_KEY, or with a DRAPE_URL that is none
 */
export async function serveMcp(env: NodeJS.ProcessEnv): Promise<void> {
  const { DRAPE_URL = 'http://localhost:8080', DRAPE_API_KEY: apiKey } = env
  if (!apiKey) throw new UsageError('DRAPE_API_KEY is not set: the secret key sk_… of an account')
  if (!URL.canParse(DRAPE_URL)) throw new UsageError('DRAPE_URL must be the address of the service')
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const client = createDrapeClient({ url: DRAPE_URL, apiKey })
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES })
  serveStdio(() => createMcpServer({ client, version }), {
    transport,
    onerror: (error) => console.error(error.message),
  })
  await once(process.stdin, 'close')
}
