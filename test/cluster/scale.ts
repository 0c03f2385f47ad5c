import type { Connection } from '../../controller/runtime/connection.ts'
import { type ObjectName, pathOf, type ResourceType } from '../../controller/runtime/resource.ts'
import { askApiServer } from './ask-api-server.ts'

/** Sets the replicas of an object through its scale subresource, as an autoscaler does. */
export async function scale(
  connection: Connection,
  type: ResourceType,
  name: ObjectName,
  replicas: number,
): Promise<void> {
  await askApiServer(connection, {
    method: 'PATCH',
    path: `${pathOf(type, name)}/scale`,
    query: { fieldManager: 'autoscaler' },
    contentType: 'application/merge-patch+json',
    body: { spec: { replicas } },
  })
}
