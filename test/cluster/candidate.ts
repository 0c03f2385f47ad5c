import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../controller/runtime/client.ts'
import { openConnection } from '../../controller/runtime/connection.ts'
import { startElection } from '../../controller/runtime/leader.ts'
import { CONFIG_MAPS } from './kinds.ts'

// A process that stands for election and, while it leads, writes its name as fast as it can.
const [kubeconfig, namespace, identity] = process.argv.slice(2)
const connection = openConnection({ kubeconfig })
const election = startElection({
  client: createClient(connection, { fieldManager: identity }),
  lease: { namespace, name: 'office' },
  identity,
  leaseSeconds: 3,
  renewSeconds: 2,
  retrySeconds: 0.3,
  onElected: () => {},
  onLost: () => {},
})
console.log('stands')
const client = createClient(connection, { fieldManager: 'candidate', fence: election.fence })

process.once('SIGTERM', async () => {
  await election.stop()
  process.exit(0)
})
for (;;) {
  const written = { metadata: { namespace, name: 'journal' }, data: { writer: identity } }
  await client.patch(CONFIG_MAPS, written.metadata, { data: written.data }).catch(() => {})
  await sleep(election.isLeader() ? 5 : 50)
}
