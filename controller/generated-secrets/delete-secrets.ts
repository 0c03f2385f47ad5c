import type { Client } from '../runtime/client.ts'
import type { KubernetesObject, ObjectName, ResourceType } from '../runtime/resource.ts'
import { SECRETS } from './ensure-secrets.ts'

const DEPLOYMENTS: ResourceType = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
}

/**
 * Deletes the Secrets. Throws an Error while the Deployment exists: a tool that applies the rendered chart without support for Helm
 * hooks would otherwise delete the keys of a running release.
 */
export async function deleteSecrets(
  client: Client,
  { secrets, unless }: { secrets: readonly ObjectName[]; unless: ObjectName },
): Promise<string[]> {
  const deployment = await client.get<KubernetesObject>(DEPLOYMENTS, unless)
  if (deployment !== null && deployment.metadata.deletionTimestamp === undefined) {
    throw new Error(
      `The Deployment ${unless.name} exists: the Secrets are deleted only after the release is uninstalled.`,
    )
  }
  for (const name of secrets) await client.delete(SECRETS, name)
  return secrets.map(({ name }) => `${name}: deleted`)
}
