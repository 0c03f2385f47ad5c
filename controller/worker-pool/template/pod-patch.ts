type Fields = Readonly<Record<string, unknown>>

/**
 * Merge keys of the lists of a pod template, as in the strategic merge patch of Kubernetes (`patchMergeKey` in the API
 * reference of Pod). Lists without a key are replaced as a whole, for example tolerations.
 */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  claims: ['name'],
  containers: ['name'],
  env: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ports: ['containerPort', 'protocol'],
  resourceClaims: ['name'],
  schedulingGates: ['name'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
}

/** Applies a strategic merge patch to a pod template. Null removes a field. Does not modify its arguments. */
export function patchPod<T extends object>(template: T, patch: object): T {
  return merge(template, patch) as T
}

function merge(base: unknown, patch: unknown, name = ''): unknown {
  if (Array.isArray(patch)) return name in KEYS && Array.isArray(base) ? mergeLists(base, patch, KEYS[name]) : patch
  if (!isFields(patch)) return patch
  const merged: Record<string, unknown> = isFields(base) ? { ...base } : {}
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field]
    else merged[field] = merge(merged[field], value, field)
  }
  return merged
}

function mergeLists(base: readonly unknown[], patch: readonly unknown[], keys: readonly string[]): unknown[] {
  const isSame = (a: unknown, b: unknown) => isFields(a) && isFields(b) && keys.every((key) => a[key] === b[key])
  const merged = base.map((entry) => merge(entry, patch.find((other) => isSame(entry, other)) ?? {}))
  const added = patch.filter((entry) => !base.some((other) => isSame(entry, other)))
  return [...merged, ...added.map((entry) => merge({}, entry))]
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
