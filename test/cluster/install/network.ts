import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { run } from '../../../scripts/stack/commands.ts'

/** The bridge of all pods. Its own address is the node's, the API server's and the one of DNS: nothing needs another network. */
export const BRIDGE = { name: 'drape-test0', address: '10.244.0.1', pods: '10.244.0.0/24' }

const SWITCHES = ['/proc/sys/net/ipv4/ip_forward', '/proc/sys/net/bridge/bridge-nf-call-iptables']
const FIREWALL = 'KUBE-FIREWALL'
const PASSING = ['-s', '-d'].map((side) => ['FORWARD', side, BRIDGE.pods, '-j', 'ACCEPT'])

/** Makes the bridge and lets packets of pods pass. What was set before is put into `undo`. */
export async function openNetwork(undo: AsyncDisposableStack): Promise<void> {
  await run('ip', ['link', 'add', BRIDGE.name, 'type', 'bridge'])
  undo.defer(() => removeBridge())
  await run('ip', ['address', 'add', `${BRIDGE.address}/24`, 'dev', BRIDGE.name])
  await run('ip', ['link', 'set', BRIDGE.name, 'up'])
  for (const path of SWITCHES) {
    const before = await readFile(path, 'utf8')
    await writeFile(path, '1')
    undo.defer(() => writeFile(path, before))
  }
  for (const rule of PASSING) {
    await run('iptables', ['-w', '-I', ...rule])
    undo.defer(async () => void (await run('iptables', ['-w', '-D', ...rule])))
  }
  await keepFirewallAsItWas(undo)
}

/** A kubelet creates it and does not remove it. One that existed before belongs to another program. */
async function keepFirewallAsItWas(undo: AsyncDisposableStack): Promise<void> {
  const wasThere = (await run('iptables-save', [])).includes(FIREWALL)
  undo.defer(async () => {
    if (!wasThere) await removeFirewall()
  })
}

async function removeFirewall(): Promise<void> {
  for (const chain of ['INPUT', 'OUTPUT']) await run('iptables', ['-w', '-D', chain, '-j', FIREWALL]).catch(() => {})
  for (const change of ['-F', '-X']) await run('iptables', ['-w', change, FIREWALL]).catch(() => {})
}

/** Takes away what a run has left that was killed. */
export async function clearNetwork(): Promise<void> {
  if (!existsSync(`/sys/class/net/${BRIDGE.name}`)) return
  await removeBridge()
  await removeFirewall()
  for (const rule of PASSING) await run('iptables', ['-w', '-D', ...rule]).catch(() => {})
}

async function removeBridge(): Promise<void> {
  await run('ip', ['link', 'delete', BRIDGE.name])
}
