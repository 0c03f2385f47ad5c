import { createClient } from '../runtime/client.ts'
import { openConnection } from '../runtime/connection.ts'
import type { KubernetesObject, ResourceType } from '../runtime/resource.ts'
import { CUSTOM_RESOURCES } from './custom-resources.ts'

// Applies the custom resource definitions of this version to a cluster, or deletes them and thereby all their objects: `node
// controller/definitions/definitions.ts apply | delete`.

const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}

const [action, ...more] = process.argv.slice(2)
if (more.length > 0 || (action !== 'apply' && action !== 'delete')) {
  console.error('usage: node controller/definitions/definitions.ts apply | delete')
  process.exitCode = 2
} else await change(action)

async function change(action: 'apply' | 'delete'): Promise<void> {
  const connection = openConnection()
  const client = createClient(connection, { fieldManager: 'drape-definitions' })
  try {
    for (const { definition } of CUSTOM_RESOURCES) {
      const { metadata } = definition as unknown as KubernetesObject
      if (action === 'apply') await client.apply(DEFINITIONS, { ...definition, metadata })
      else await client.delete(DEFINITIONS, { name: metadata.name })
      console.log(`${metadata.name}: ${action === 'apply' ? 'applied' : 'deleted'}`)
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  } finally {
    connection.close()
  }
}
