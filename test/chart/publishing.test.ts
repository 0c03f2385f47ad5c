import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleCharts } from '../../scripts/charts/archive.ts'
import { run } from '../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { findGoTool } from '../support/go-tool.ts'
import { spawnProcess, type TestProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'
import { findChart } from './charts.ts'

const CRANE = {
  name: 'crane',
  package: 'github.com/google/go-containerregistry/cmd/crane',
  source: { version: 'v0.20.6' },
}
const chart = await findChart('drape')
const crane = await findGoTool(CRANE)
const possible = chart !== null && typeof crane === 'string'
if (!possible && process.env.CI === 'true') throw new Error(`crane cannot run: ${JSON.stringify(crane)}`)

describe.skipIf(!possible)('with a real registry', () => {
  let registry: { address: string; process: TestProcess }
  let folder: string

  beforeAll(async () => {
    folder = (await requestService('folder', null)).path
    registry = await startRegistry(crane as string)
  })
  afterAll(() => registry?.process.end('SIGKILL'))

  it('the charts are published, and rendered from there', async () => {
    const env = { ...process.env, SIGN: 'no', PLAIN_HTTP: 'yes' }
    const said = await run('scripts/release-charts', [`oci://${registry.address}/charts`], { cwd: ROOT, env })
    expect(said.trim().split('\n')).toEqual([
      expect.stringMatching(/\/charts\/drape@sha256:[0-9a-f]{64}$/),
      expect.stringMatching(/\/charts\/drape-crds@sha256:[0-9a-f]{64}$/),
    ])
    const address = `oci://${registry.address}/charts/drape`
    const text = await chart?.helm('template', 'drape', address, '--version', '0.1.0', '--plain-http')
    expect(text).toContain('kind: WorkerPool')
  })

  it('what a cluster without a way to the internet takes is gathered, and its images copied', async () => {
    const bundle = join(folder, 'bundle')
    await bundleCharts(bundle)
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: bundle })
    const images = (await readFile(join(bundle, 'images.txt'), 'utf8')).trim().split('\n')
    expect(images).toContain('drape/api:0.1.0')
    expect(await chart?.helm('template', 'drape', join(bundle, 'drape-0.1.0.tgz'))).toContain('image: drape/api:0.1.0')

    // Registries outside are not to be had here: those that images name are ours.
    const named = images.map((image) => image.replace(/^[^/]+\.[^/]+(?=\/)/, `${registry.address}/outside`))
    await writeFile(join(bundle, 'images.txt'), `${named.join('\n')}\n`)
    for (const image of named) {
      await putImage(image.startsWith(registry.address) ? image : `${registry.address}/ours/${image}`)
    }
    const target = `${registry.address}/inside`
    const env = { ...process.env, PATH: `${await craneFolder()}:${process.env.PATH}` }
    await run(join(bundle, 'mirror.sh'), [target, `${registry.address}/ours`], { env })
    const locked = (await readFile(join(bundle, 'images.lock'), 'utf8')).trim().split('\n')
    expect(locked).toHaveLength(images.length)
    for (const reference of locked) {
      const [tagged, digest] = reference.split('@')
      expect(await run(crane as string, ['digest', tagged])).toBe(`${digest}\n`)
    }
    expect(locked.map((reference) => reference.split('@')[0])).toContain(`${target}/drape/api:0.1.0`)
  })

  it('copying says which image nobody said the registry of', async () => {
    const bundle = join(folder, 'other')
    await mkdir(bundle)
    await cp(join(ROOT, 'scripts/charts/mirror.sh'), join(bundle, 'mirror.sh'))
    await writeFile(join(bundle, 'images.txt'), 'drape/api:0.1.0\n')
    const env = { ...process.env, PATH: `${await craneFolder()}:${process.env.PATH}` }
    await expect(run(join(bundle, 'mirror.sh'), [registry.address], { env })).rejects.toThrow(
      'drape/api:0.1.0 says no registry',
    )
  })

  /** A folder in which the program has the name that scripts know it by. */
  async function craneFolder(): Promise<string> {
    const path = join(folder, 'bin')
    await mkdir(path, { recursive: true })
    await symlink(crane as string, join(path, 'crane')).catch(() => {})
    return path
  }

  async function putImage(reference: string): Promise<void> {
    const content = join(folder, 'content')
    await writeFile(content, reference)
    const layer = join(folder, 'layer.tar')
    await run('tar', ['--create', '--file', layer, '--directory', folder, 'content'])
    await run(crane as string, ['append', '--new_layer', layer, '--new_tag', reference])
  }
})

async function startRegistry(program: string): Promise<{ address: string; process: TestProcess }> {
  const reserved = await reserveFreePort()
  await reserved.release()
  const address = `127.0.0.1:${reserved.port}`
  const args = ['registry', 'serve', '--address', address]
  const process = await spawnProcess({ command: program, args, cwd: ROOT, env: globalThis.process.env })
  await until(() =>
    fetch(`http://${address}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return { address, process }
}
