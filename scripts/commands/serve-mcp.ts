import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createDrapeClient } from '../../api/client/node.ts'
import { createMcpServer } from './mcp/server.ts'
import { readService } from './service.ts'

/** Max message size: an image of 10 MB in base64, plus the rest of the message. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

/**
 * Serves the Model Context Protocol on standard input and output until the input ends.
 * @throws UsageError without DRAPE_API_KEY, or with an invalid DRAPE_URL
 */
export async function serveMcp(env: NodeJS.ProcessEnv): Promise<void> {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const client = createDrapeClient(readService(env))
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES })
  serveStdio(() => createMcpServer({ client, version, env }), {
    transport,
    onerror: (error) => console.error(error.message),
  })
  await once(process.stdin, 'close')
}
