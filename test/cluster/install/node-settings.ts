import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONTROL_GROUP } from './control-groups.ts'
import { BRIDGE } from './network.ts'

export const NODE_NAME = 'node-1'
export const PAUSE_IMAGE = 'localhost/drape-test/pause:1'
/** Of the network that the settings of CNI define; rules that it makes carry it. */
export const POD_NETWORK = 'drape-test-pods'

/** Paths of what each program of a node reads. */
export interface NodeFiles {
  readonly containerd: string
  readonly kubelet: string
  readonly kubeProxy: string
  readonly coreDns: string
  /** Where containerd listens. */
  readonly socket: string
}

/**
 * Writes into the folder how a node is run that shares its machine with others: it listens on the bridge alone and keeps all it
 * has in the folder.
 */
export async function writeNodeFiles(
  folder: string,
  access: { authority: string; kubeconfig: string; proxyKubeconfig: string },
): Promise<NodeFiles> {
  const at = (name: string) => join(folder, name)
  const socket = at('containerd.sock')
  await mkdir(at('cni'), { recursive: true })
  // Pods ask only for names of the cluster.
  await writeFile(at('resolv.conf'), 'nameserver 127.0.0.1\n')
  await writeFile(at('cni/10-pods.conflist'), JSON.stringify(podNetwork(folder)))
  await writeFile(at('containerd.toml'), containerd(folder, socket))
  await writeFile(at('kubelet.json'), JSON.stringify(kubelet(folder, { socket, authority: access.authority })))
  await writeFile(at('kube-proxy.json'), JSON.stringify(kubeProxy(access.proxyKubeconfig)))
  await writeFile(at('Corefile'), coreDns(access.kubeconfig))
  return {
    containerd: at('containerd.toml'),
    kubelet: at('kubelet.json'),
    kubeProxy: at('kube-proxy.json'),
    coreDns: at('Corefile'),
    socket,
  }
}

function podNetwork(folder: string) {
  const ipam = {
    type: 'host-local',
    dataDir: join(folder, 'addresses'),
    ranges: [[{ subnet: BRIDGE.pods }]],
    routes: [{ dst: '0.0.0.0/0' }],
  }
  return {
    cniVersion: '0.4.0',
    name: POD_NETWORK,
    plugins: [
      { type: 'bridge', bridge: BRIDGE.name, isGateway: true, ipMasq: true, hairpinMode: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
}

function containerd(folder: string, socket: string): string {
  const criPlugin = 'plugins."io.containerd.grpc.v1.cri"'
  return `
version = 2
root = "${folder}/containerd"
state = "${folder}/containerd-state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.internal.v1.tracing",
]
[grpc]
  address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${folder}/containerd-opt"
[${criPlugin}]
  sandbox_image = "${PAUSE_IMAGE}"
  # Machines that are themselves contained may not lower a score.
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
  enable_unprivileged_ports = false
  netns_mounts_under_state_dir = true
  [${criPlugin}.cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
  [${criPlugin}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [${criPlugin}.containerd.runtimes.runc.options]
      SystemdCgroup = false
`
}

function kubelet(folder: string, { socket, authority }: { socket: string; authority: string }) {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Version 1 of cgroups is what many machines in continuous integration have.
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: CONTROL_GROUP,
    failSwapOn: false,
    oomScoreAdj: 0,
    containerRuntimeEndpoint: `unix://${socket}`,
    address: BRIDGE.address,
    healthzPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: authority },
    },
    authorization: { mode: 'AlwaysAllow' },
    clusterDNS: [BRIDGE.address],
    clusterDomain: 'cluster.local',
    resolvConf: join(folder, 'resolv.conf'),
    podLogsDir: join(folder, 'pod-logs'),
    volumePluginDir: join(folder, 'kubelet/volume-plugins'),
    // Nothing could bring an image again that was let go.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    nodeStatusUpdateFrequency: '2s',
    syncFrequency: '10s',
    serializeImagePulls: false,
    registryPullQPS: 0,
    eventRecordQPS: 0,
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
    maxPods: 110,
    makeIPTablesUtilChains: false,
    shutdownGracePeriod: '0s',
  }
}

function kubeProxy(kubeconfig: string) {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    hostnameOverride: NODE_NAME,
    clientConnection: { kubeconfig },
    clusterCIDR: BRIDGE.pods,
    bindAddress: BRIDGE.address,
    healthzBindAddress: '',
    metricsBindAddress: '',
    nodePortAddresses: [`${BRIDGE.address}/32`],
    oomScoreAdj: 0,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    iptables: { minSyncPeriod: '0s', localhostNodePorts: false },
    nftables: { minSyncPeriod: '0s' },
  }
}

function coreDns(kubeconfig: string): string {
  return `
.:53 {
  bind ${BRIDGE.address}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
    ttl 1
  }
}
`
}
