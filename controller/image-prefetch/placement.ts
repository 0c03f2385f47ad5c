import { compileCheck, type Static, Type } from '../../api/shared/contract/schema.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import { readQuantity } from './quantity.ts'

const ExpressionSchema = Type.Object({
  key: Type.String(),
  operator: Type.String(),
  values: Type.Optional(Type.Array(Type.String())),
})
const TermSchema = Type.Object({
  matchExpressions: Type.Optional(Type.Array(ExpressionSchema)),
  matchFields: Type.Optional(Type.Array(ExpressionSchema)),
})
const TolerationSchema = Type.Object({
  key: Type.Optional(Type.String()),
  operator: Type.Optional(Type.String()),
  value: Type.Optional(Type.String()),
  effect: Type.Optional(Type.String()),
})

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'

/** The fields of a pod spec that determine its nodes. A patch of the pool can contain arbitrary values. */
const PlacedSpecSchema = Type.Object({
  nodeSelector: Type.Optional(Type.Record(Type.String(), Type.String())),
  tolerations: Type.Optional(Type.Array(TolerationSchema)),
  serviceAccountName: Type.Optional(Type.String()),
  imagePullSecrets: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
  affinity: Type.Optional(
    Type.Object({
      nodeAffinity: Type.Optional(
        Type.Object({
          [REQUIRED]: Type.Optional(Type.Object({ nodeSelectorTerms: Type.Array(TermSchema) })),
        }),
      ),
      podAffinity: Type.Optional(Type.Object({ [REQUIRED]: Type.Optional(Type.Array(Type.Object({}))) })),
    }),
  ),
  containers: Type.Array(
    Type.Object({
      name: Type.String(),
      image: Type.String(),
      imagePullPolicy: Type.Optional(Type.String()),
      resources: Type.Optional(
        Type.Object({
          requests: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
        }),
      ),
    }),
  ),
})

export type PlacedSpec = Static<typeof PlacedSpecSchema>
type Expression = Static<typeof ExpressionSchema>

/** The fields of a node that placement reads. */
export interface FullNode extends KubernetesObject {
  readonly spec?: { readonly taints?: readonly { key: string; value?: string; effect: string }[] }
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

const check = compileCheck(PlacedSpecSchema)

/** Parses the placement fields of a pod spec; null for a spec that no API server accepts. */
export function readPlacedSpec(spec: unknown): PlacedSpec | null {
  const result = check(structuredClone(spec))
  return result.ok ? result.value : null
}

/** Whether the pod depends on other pods' nodes, which only the scheduler knows. */
export function followsPods({ affinity }: PlacedSpec): boolean {
  return (affinity?.podAffinity?.[REQUIRED] ?? []).length > 0
}

/** Whether the pod's node selector and affinity match the node's name and labels. */
export function selectsNode({ nodeSelector = {}, affinity }: PlacedSpec, { metadata }: KubernetesObject): boolean {
  const labels = metadata.labels ?? {}
  if (!Object.entries(nodeSelector).every(([label, value]) => labels[label] === value)) return false
  const terms = affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms
  if (terms === undefined) return true
  const fields: Readonly<Record<string, string>> = { 'metadata.name': metadata.name }
  return terms.some(({ matchExpressions = [], matchFields = [] }) => {
    const isEmpty = matchExpressions.length + matchFields.length === 0
    const matches = (values: Readonly<Record<string, string>>) => (each: Expression) => isMatch(each, values)
    return !isEmpty && matchExpressions.every(matches(labels)) && matchFields.every(matches(fields))
  })
}

function isMatch({ key, operator, values = [] }: Expression, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key]
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return Number(value) > Number(values[0])
    case 'Lt':
      return Number(value) < Number(values[0])
    default:
      return false
  }
}

/** Whether the node is ready, its taints are tolerated, and its total allocatable resources cover the worker's requests. */
export function canRun({ tolerations = [], containers }: PlacedSpec, { spec, status }: FullNode): boolean {
  const isReady = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false
  const repelling = (spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule')
  const allocatable = status?.allocatable ?? {}
  return (
    isReady &&
    repelling.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint))) &&
    containers.every(({ resources }) =>
      Object.entries(resources?.requests ?? {}).every(
        ([name, amount]) => readQuantity(amount) <= readQuantity(allocatable[name] ?? 0),
      ),
    )
  )
}

function tolerates(
  { key, operator = 'Equal', value = '', effect }: NonNullable<PlacedSpec['tolerations']>[number],
  taint: { readonly key: string; readonly value?: string; readonly effect: string },
): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  return operator === 'Exists' || (operator === 'Equal' && Boolean(key) && value === (taint.value ?? ''))
}
