import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findGoTool } from '../../scripts/stack/go-tool.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { failUnlessAllowed } from './missing.ts'
import { spawnProcess } from './process.ts'
import { requestService } from './request-service.ts'
import { until } from './until.ts'

const REGISTRY = {
  name: 'registry',
  package: 'github.com/distribution/distribution/v3/cmd/registry',
  source: { version: 'v3.1.2' },
}

/** The path of a real image registry. Fails or returns null like `failUnlessAllowed`. */
export async function findRegistryServer(): Promise<string | null> {
  const found = await findGoTool(REGISTRY)
  return typeof found === 'string' ? found : failUnlessAllowed(`${found.unavailable}.`)
}

/** Starts an empty registry that ends with the tests, and returns its address: host and port. */
export async function startRegistryServer(program: string): Promise<string> {
  const { path } = await requestService('folder', null)
  const { port, release } = await reserveFreePort()
  await release()
  const address = `127.0.0.1:${port}`
  const settings = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(path, 'registry') } },
    // Uploads continue behind a proxy as well.
    http: { addr: address, relativeurls: true },
  }
  await writeFile(join(path, 'registry.json'), JSON.stringify(settings))
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'none' }
  await spawnProcess({ command: program, args: ['serve', join(path, 'registry.json')], cwd: path, env })
  await until(() =>
    fetch(`http://${address}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return address
}
