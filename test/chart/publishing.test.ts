import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { spawnProcess, type TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { findChart, findTool } from './charts.ts'

const CRANE = {
  name: 'crane',
  package: 'github.com/google/go-containerregistry/cmd/crane',
  source: { version: 'v0.20.6' },
}
const chart = await findChart('drape')
const crane = await findTool(CRANE)
const possible = chart !== null && crane !== null

describe.skipIf(!possible)('with a real registry', () => {
  let registry: { address: string; process: TestProcess }

  beforeAll(async () => {
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
