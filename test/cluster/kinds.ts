import type { ResourceType } from '../../controller/runtime/resource.ts'

const core = { group: '', version: 'v1' }

export const NAMESPACES: ResourceType = { ...core, plural: 'namespaces', kind: 'Namespace', namespaced: false }
export const NODES: ResourceType = { ...core, plural: 'nodes', kind: 'Node', namespaced: false }
export const PODS: ResourceType = { ...core, plural: 'pods', kind: 'Pod', namespaced: true }
export const EVENTS: ResourceType = { ...core, plural: 'events', kind: 'Event', namespaced: true }
export const RESOURCE_QUOTAS: ResourceType = {
  ...core,
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
}
export const CONFIG_MAPS: ResourceType = { ...core, plural: 'configmaps', kind: 'ConfigMap', namespaced: true }
export const DEPLOYMENTS: ResourceType = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
}
export const REPLICA_SETS: ResourceType = { ...DEPLOYMENTS, plural: 'replicasets', kind: 'ReplicaSet' }
const devices = { group: 'resource.k8s.io', version: 'v1' }
export const DEVICE_CLASSES: ResourceType = {
  ...devices,
  plural: 'deviceclasses',
  kind: 'DeviceClass',
  namespaced: false,
}
export const CLAIM_TEMPLATES: ResourceType = {
  ...devices,
  plural: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
  namespaced: true,
}
export const RESOURCE_SLICES: ResourceType = {
  ...devices,
  plural: 'resourceslices',
  kind: 'ResourceSlice',
  namespaced: false,
}
export const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}
