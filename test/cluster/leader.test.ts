import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { watchObjects } from '../../controller/runtime/watch.ts'
import { spawnProcess, type TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { ControlPlane } from './control-plane.ts'
import { CONFIG_MAPS } from './kinds.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface Journal extends KubernetesObject {
  readonly data?: { readonly writer?: string }
}

const controlPlane = await findSharedControlPlane()

describe.skipIf(controlPlane === null)('leader election', () => {
  it('never has two writers when processes are killed, frozen or stopped', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const journal = await openJournal(place)
    const stand = (name: string) => startCandidate(controlPlane, place, name)
    const candidates = new Map([
      ['anna', await stand('anna')],
      ['bert', await stand('bert')],
    ])
    const first = await until(journal.writer)
    const second = first === 'anna' ? 'bert' : 'anna'

    // Frozen for longer than its lease, the leader wakes up in the belief that it leads.
    process.kill(pidOf(candidates, first), 'SIGSTOP')
    await until(() => journal.writer() === second)
    process.kill(pidOf(candidates, first), 'SIGCONT')
    await sleep(500)
    // One write may have passed the fence and not yet been sent when its process was frozen; that write cannot be undone.
    expect([
      [first, second],
      [first, second, first, second],
    ]).toContainEqual(journal.terms())

    const terms = journal.terms().length
    candidates.set('carl', await stand('carl'))
    await candidates.get(second)?.end('SIGKILL')
    const third = await until(() => journal.terms().length === terms + 1 && journal.writer())
    expect(third).not.toBe(second)

    // A leader that stops releases its lease at once.
    const stoppedAt = performance.now()
    await candidates.get(third)?.end('SIGTERM')
    await until(() => journal.terms().length === terms + 2)
    expect(performance.now() - stoppedAt).toBeLessThan(3000)
    await sleep(500)
    expect(journal.terms()).toHaveLength(terms + 2)
    for (const candidate of candidates.values()) await candidate.end('SIGKILL')
    journal.close()
  })
})

/** Who wrote, in order: an entry for each time that another one than before did. */
async function openJournal({ client, connection, namespace }: TestNamespace) {
  await client.create(CONFIG_MAPS, { metadata: { namespace, name: 'journal' } })
  const terms: string[] = []
  const watched = watchObjects<Journal>({
    connection,
    type: CONFIG_MAPS,
    namespace,
    onChange: ({ data }) => {
      if (data?.writer !== undefined && terms.at(-1) !== data.writer) terms.push(data.writer)
    },
  })
  await watched.synced
  return { terms: () => terms, writer: () => terms.at(-1), close: () => watched.close() }
}

async function startCandidate(
  controlPlane: ControlPlane,
  { namespace }: TestNamespace,
  name: string,
): Promise<TestProcess> {
  const program = resolve(import.meta.dirname, 'candidate.ts')
  const args = [program, controlPlane.kubeconfig, namespace, name]
  const candidate = await spawnProcess({ command: process.execPath, args, cwd: import.meta.dirname, env: process.env })
  await until(() => candidate.output().includes('stands'))
  return candidate
}

function pidOf(candidates: ReadonlyMap<string, TestProcess>, name: string): number {
  const candidate = candidates.get(name)
  if (candidate === undefined) throw new Error(`There is no candidate ${name}`)
  return candidate.pid
}
