import type { Rendered } from '../../scripts/charts/render.ts'

/** A pod, or what pods are made of. */
export interface Pod {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> }
  readonly spec: Rendered
}

export function kinds(objects: readonly Rendered[]): Set<string> {
  return new Set(objects.map(({ kind }) => kind))
}

/** Throws where there is no such object. */
export function named(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`There is no ${kind} ${name}`)
  return found
}

/** The pods that come of an object. */
export function podsOf({ kind, metadata, spec }: Rendered): Pod[] {
  if (kind === 'Pod') return [{ metadata: { labels: metadata.labels }, spec }]
  return spec?.template?.spec?.containers ? [spec.template] : []
}

export function podSpecsOf(object: Rendered) {
  return podsOf(object).map(({ spec }) => spec)
}

export function containersOf(object: Rendered): Rendered[] {
  return podSpecsOf(object).flatMap(({ initContainers = [], containers }) => [...initContainers, ...containers])
}

export function imagesOf(object: Rendered): string[] {
  const ofPool = object.kind === 'WorkerPool' ? [object.spec.template.image] : []
  return [...containersOf(object).map(({ image }) => image), ...ofPool]
}

/** What a process has in its environment; undefined where it has it from elsewhere, or not. */
export function variable(objects: readonly Rendered[], component: string, name: string): string | undefined {
  const [{ env }] = named(objects, 'Deployment', `drape-${component}`).spec.template.spec.containers
  return env.find((each: Rendered) => each.name === name)?.value
}
