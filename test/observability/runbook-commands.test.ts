import { globSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { ExtendedKeyUsage } from '@peculiar/x509'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweeps } from '../../controller/retention/resource.ts'
import { type Client, createClient } from '../../controller/runtime/client.ts'
import { type Connection, openConnection } from '../../controller/runtime/connection.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { type WorkerPool, workerPools } from '../../controller/worker-pool/resource.ts'
import { findHelm } from '../../scripts/charts/helm.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { findChart } from '../chart/charts.ts'
import { type FakeNodes, startFakeNodes } from '../cluster/fake-nodes.ts'
import { NODES } from '../cluster/kinds.ts'
import { findKubectl } from '../cluster/kubectl.ts'
import { type ModelWorkers, startModelWorkers } from '../cluster/model-workers.ts'
import { type OwnControlPlane, startOwnControlPlane } from '../cluster/own-control-plane.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { copyGeneration } from '../support/accepted.ts'
import { createAuthority } from '../support/certificates.ts'
import { blocksOf, codeSpansOf } from '../support/documented-blocks.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'
import { writeProgram } from '../support/write-program.ts'

const FOLDER = 'charts/drape/runbooks'
const PAGES = globSync(`${FOLDER}/*.md`, { cwd: ROOT })
  .filter((path) => basename(path) !== 'README.md')
  .sort()
const NODE_NAMES = ['runbook-a', 'runbook-b']
/** Commands that cannot run here, by their beginning, with the reason. */
const LEFT_OUT: readonly (readonly [command: string, reason: string])[] = [
  ['kubectl debug "node/$NODE"', 'a node of the test has no kernel whose log could be read'],
]
/** A command that exits with 1 when it finds problems, as in any installation for tests. */
const MAY_FIND = / doctor$/
const VARIABLE = /^[A-Z]+=/

const chart = await findChart('drape')
const kubectl = await findKubectl()
const possible = (await findSharedControlPlane())?.hasControllers && chart !== null && kubectl !== null
const missing = await reasonWithout('psql', 'redisCli')

/**
 * The chart as the pages assume it: release and namespace `drape`. Nodes only say that pods run and answer with logs; controller, API,
 * Postgres and Redis are real and beside the cluster. The commands run as they are, with two substitutions: DATABASE_URL and REDIS_URL,
 * which the README has readers set, and what a page executes in a pod of the API runs here, with the environment of the API.
 */
describe.skipIf(!possible || missing !== '')('every command of a runbook', () => {
  let controlPlane: OwnControlPlane
  let connection: Connection
  let client: Client
  let kubelet: Awaited<ReturnType<typeof serveLogs>>
  let nodes: FakeNodes
  let models: ModelWorkers
  let drape: Drape
  let controller: TestProgram
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    controlPlane = await startOwnControlPlane()
    connection = openConnection({ kubeconfig: controlPlane.kubeconfig })
    client = createClient(connection, { fieldManager: 'test' })
    kubelet = await serveLogs()
    nodes = await startFakeNodes({ client, connection }, NODE_NAMES)
    for (const name of NODE_NAMES) await client.patch(NODES, { name }, kubelet.endpoint, { subresource: 'status' })
    drape = await startDrape()
    models = startModelWorkers({ redisUrl: drape.env.REDIS_URL, nodes })
    env = { ...process.env, ...drape.env, KUBECONFIG: controlPlane.kubeconfig, PATH: await makePrograms() }
    // Two revisions: one to go back to.
    for (const set of ['config.proxyHops=1', 'config.proxyHops=2']) await install(set)
    controller = await startProgram('controller', {
      ...drape.env,
      KUBECONFIG: controlPlane.kubeconfig,
      WATCH_NAMESPACE: 'drape',
      LEASE_NAMESPACE: 'drape',
      LEASE_NAME: 'drape-controller',
    })
    await makeTroubles()
  })
  afterAll(async () => {
    await controller?.end('SIGKILL')
    await models?.close()
    await drape?.stop()
    await nodes?.close()
    kubelet?.close()
    connection?.close()
    await controlPlane?.stop()
  })

  it('is in a block of sh or promql, or begins with the program', () => {
    const commands = PAGES.flatMap((page) => [...readBlocks(page), ...readInline(page)])
    expect(commands.length).toBeGreaterThan(80)
    const languages = new Set(PAGES.flatMap((page) => blocksOf(page).map(({ language }) => language)))
    expect(languages).toEqual(new Set(['sh', 'promql']))
    for (const [left] of LEFT_OUT) expect(commands.some((command) => command.startsWith(left))).toBe(true)
  })

  it.each(PAGES.map((page) => [basename(page), page]))('succeeds and shows something: %s', async (_, page) => {
    await runAll(readBlocks(page))
  })

  // Afterwards, as they change what the others read.
  it.each(PAGES.filter((page) => readInline(page).length > 0).map((page) => [basename(page), page]))(
    'of the mitigation succeeds: %s',
    async (_, page) => {
      const variables = readBlocks(page).filter((command) => VARIABLE.test(command))
      await runAll([...variables, ...readInline(page)])
    },
  )

  /** Runs the commands as a person pastes them, one after the other. Throws at the first that fails or shows nothing. */
  async function runAll(pasted: readonly string[]): Promise<void> {
    const commands = pasted.filter((command) => !LEFT_OUT.some(([left]) => command.startsWith(left)))
    const lines = commands.flatMap((command, i) => [
      `echo "#${i} "`,
      MAY_FIND.test(command) ? `${command} || [ $? = 1 ]` : command,
    ])
    const output = await run('bash', ['--norc', '-euc', `set -o pipefail; exec 2>&1\n${lines.join('\n')}`], { env })
    const shown = output.split(/^#\d+ \n/m).slice(1)
    expect(shown).toHaveLength(commands.length)
    expect(commands.filter((command, i) => shown[i] === '' && !VARIABLE.test(command))).toEqual([])
    expect(output).not.toContain('No resources found')
  }

  async function install(set: string): Promise<void> {
    const given = [
      '--values',
      join(ROOT, 'charts/drape/values-ha.yaml'),
      '--set',
      // The API server does not know the kinds of the Gateway API.
      'migrations.mode=manual,exposure=none',
      '--set',
      set,
    ]
    const place = ['--namespace', 'drape', '--create-namespace', '--kubeconfig', controlPlane.kubeconfig]
    // The Jobs of hooks would not end.
    await chart?.helm('upgrade', '--install', 'drape', chart.folder, '--no-hooks', ...place, ...given)
  }

  async function makePrograms(): Promise<string> {
    const { path } = await requestService('folder', null)
    await writeProgram(join(path, 'helm'), `exec ${await findHelm()} "$@"`)
    const program = `${kubectl} kubectl`
    const inPod = '-n drape exec deploy/drape-api -c api -- '
    await writeProgram(
      join(path, 'kubectl'),
      `case "$*" in "${inPod}"*)
  ${program} -n drape get deploy/drape-api -o jsonpath='{.spec.template.spec.containers[*].name}' | grep -qw api || exit 1
  shift 7; cd ${ROOT}; exec "$@"
esac
exec ${program} "$@"`,
    )
    return `${path}:${process.env.PATH}`
  }

  /** What runbooks look at: a run of the retention policy, a failed generation and a sick worker. */
  async function makeTroubles(): Promise<void> {
    const sweep = { metadata: { namespace: 'drape', name: 'asked' }, spec: { policy: 'drape-expired' } }
    await client.create<KubernetesObject>(sweeps.type, sweep)
    const [me, shirt] = await Promise.all(['persons/down-half-teal.jpg', 'garments/tshirt-mustard.jpg'].map(readSample))
    const asked = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
    }
    const id = await drape.tryOn({ ...asked, output: { engine: 'mock' } }, { me, shirt })
    const failed = { status: 'FAILED', error_code: 'GENERATION_FAILED', finished_at: new Date() }
    await copyGeneration(drape.database, id, failed)
    const [first] = await until(() => {
      const workers = nodes.running('drape').filter((name) => name.startsWith('drape-cpu-workers'))
      return workers.length > 0 && workers
    })
    models.failWhere((pod) => pod === first)
    await until(async () => {
      const pool = await client.get<WorkerPool>(workerPools.type, { namespace: 'drape', name: 'drape-cpu' })
      return (pool?.status?.sickWorkers ?? []).length > 0
    })
  }
})

/** The lines of blocks of commands. */
function readBlocks(page: string): string[] {
  return blocksOf(page).flatMap(({ language, text }) => (language === 'sh' ? text.trim().split('\n') : []))
}

/** Commands in sentences. */
function readInline(page: string): string[] {
  return codeSpansOf(page).filter((text) =>
    /^(kubectl|helm|psql|redis-cli|curl|drape|npm|node|scripts\/\w+) /.test(text),
  )
}

/** The part of a kubelet that answers with the log of a container, and where the API server finds it. */
async function serveLogs() {
  const { key, certificates } = await (await createAuthority()).issue({
    usages: [ExtendedKeyUsage.serverAuth],
    address: '127.0.0.1',
  })
  const server = createServer({ key, cert: certificates }, ({ url }, response) => {
    const [, pod, container] = /^\/containerLogs\/[^/]+\/([^/]+)\/([^/?]+)/.exec(url ?? '') ?? []
    response.writeHead(container === undefined ? 404 : 200).end(`${container} of ${pod} runs\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: Port } = server.address() as AddressInfo
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
  return {
    endpoint: { status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port } } } },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
