import { createClient } from '../../controller/runtime/client.ts'
import type { Connection } from '../../controller/runtime/connection.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { watchObjects } from '../../controller/runtime/watch.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import type { ControlPlane } from '../cluster/control-plane.ts'
import { PODS } from '../cluster/kinds.ts'
import { writeKubeconfig } from '../cluster/namespace.ts'

interface JobPod extends KubernetesObject {
  readonly spec: {
    readonly serviceAccountName: string
    readonly containers: readonly { readonly command: readonly string[]; readonly args: readonly string[] }[]
  }
  readonly status?: { readonly phase?: string }
}

/** Runs the hooks of a chart on a cluster without nodes. */
export interface HookJobs {
  close(): void
}

/**
 * Runs the program of each pod of the Jobs that generate Secrets as a node would: once, with the rights of its service account alone.
 * Then the pod says how the program ended.
 */
export function startHookJobs(
  { controlPlane, connection }: { controlPlane: ControlPlane; connection: Connection },
  namespace?: string,
): HookJobs {
  const client = createClient(connection, { fieldManager: 'hook-jobs' })
  const started = new Set<string>()
  const act = async ({ metadata, spec, status }: JobPod) => {
    const { uid = '', name, namespace = '' } = metadata
    if (status?.phase !== 'Pending' || started.has(uid)) return
    started.add(uid)
    const user = `system:serviceaccount:${namespace}:${spec.serviceAccountName}`
    const env = { ...process.env, KUBECONFIG: await writeKubeconfig(controlPlane, { user }) }
    const [{ command, args }] = spec.containers
    const phase = await run(process.execPath, [...command.slice(1), ...args], { cwd: ROOT, env }).then(
      () => 'Succeeded',
      () => 'Failed',
    )
    await client.patch(PODS, { namespace, name }, { status: { phase } }, { subresource: 'status' })
  }
  const watched = watchObjects<JobPod>({
    connection,
    type: PODS,
    namespace,
    labelSelector: 'app.kubernetes.io/component in (secrets,secrets-purge)',
    onChange: (pod) => void act(pod).catch(() => {}),
  })
  return { close: () => watched.close() }
}
