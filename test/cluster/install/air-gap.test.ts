import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../../../scripts/stack/commands.ts'
import { commandsOf, runCommands } from '../../support/documented-blocks.ts'
import { reasonWithout } from '../../support/missing.ts'
import { findRegistryServer, startRegistryServer } from '../../support/registry-server.ts'
import { requestService } from '../../support/request-service.ts'
import { buildImages, CPU_TARGETS, findImageBuilder } from './images.ts'

const PAGE = 'charts/drape/docs/air-gap.md'
const HEADING = 'Air-gapped clusters'
const LONG = process.env.LONG_TESTS === '1'
const builder = LONG ? await findImageBuilder() : null
const registry = builder === null || (await reasonWithout('skopeo')) ? null : await findRegistryServer()
/** The registries of this test have no certificates. */
const PLAIN = { 'skopeo copy': 'skopeo copy --src-tls-verify=false --dest-tls-verify=false' }

describe.skipIf(registry === null)('an air-gapped registry', () => {
  it('gets the images by the commands of the page', async () => {
    if (builder === null || registry === null) return
    const [address, internal] = [await startRegistryServer(registry), await startRegistryServer(registry)]
    for (const [target, name] of Object.entries(await buildImages(builder))) {
      const push = ['push', '--quiet', '--tls-verify=false', name, `docker://${address}/drape/${target}:0.1.0`]
      await run(builder.command, [...builder.options, ...push])
    }
    const { path: folder } = await requestService('folder', null)
    // Only a registry of the internet has the others.
    const own = { 'grep -v worker-cuda': "grep '^drape/' | grep -v worker-cuda" }
    const placeholders = { ...PLAIN, ...own, 'registry.example': address }
    await runCommands(commandsOf(PAGE, HEADING), { folder, placeholders })
    expect(await readFile(join(folder, 'bundle/drape-0.1.0.tgz'))).toBeDefined()
    await runCommands(commandsOf(PAGE, HEADING, 1), {
      folder,
      placeholders: { ...PLAIN, 'registry.internal.example': internal },
    })
    for (const target of CPU_TARGETS) {
      const path = `drape/${target}:0.1.0`
      expect(await digestOf(`${internal}/${path}`), target).toBe(await digestOf(`${address}/${path}`))
    }
  }, 1_800_000)
})

function digestOf(reference: string): Promise<string> {
  return run('skopeo', ['inspect', '--tls-verify=false', '--format', '{{.Digest}}', `docker://${reference}`])
}
