import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../../scripts/stack/commands.ts'
import { installNpmPackages } from '../../scripts/stack/install-once.ts'
import { startDrape } from '../support/drape.ts'

const INSPECTOR = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js'

it('the official MCP inspector accepts the tools of drape mcp', async () => {
  const drape = await startDrape()
  try {
    const installed = await installNpmPackages('mcp-inspector', join(import.meta.dirname, 'mcp-inspector'))
    const variables = ['-e', `DRAPE_URL=${drape.api.url}`, '-e', `DRAPE_API_KEY=${drape.apiKey}`]
    const server = [process.execPath, resolve(import.meta.dirname, '../../scripts/drape.ts'), 'mcp']
    // With --strict it ends with 6 when a schema is not portable.
    const asked = ['--method', 'tools/list', '--strict']
    const args = ['--cli', '--connect-timeout', '120000', ...variables, ...server, ...asked]
    const env = { ...process.env, HOME: installed }
    const { tools } = JSON.parse(await run(process.execPath, [join(installed, INSPECTOR), ...args], { env }))
    expect(tools.map(({ name }: { name: string }) => name)).toContain('try_on')
  } finally {
    await drape.stop()
  }
})
