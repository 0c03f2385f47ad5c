import { writeYaml } from '../runtime/yaml.ts'
import type { CustomResource } from './custom-resource.ts'
import { CUSTOM_RESOURCES } from './custom-resources.ts'

/** Argo CD applies the definitions first, and keeps them, and thereby all custom resources, when an Application is deleted. */
const ANNOTATIONS = {
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'argocd.argoproj.io/sync-wave': '-2',
}

type Definition = CustomResource<unknown>['definition']

/** The CustomResourceDefinitions as YAML, by file name. */
export function presentDefinitions(): Map<string, string> {
  return new Map(
    CUSTOM_RESOURCES.map(({ type, definition }) => [
      `${type.plural}.yaml`,
      `# Written by scripts/crds from the schema in controller/.\n${writeYaml(annotated(definition))}`,
    ]),
  )
}

function annotated(definition: Definition): Definition {
  const { metadata } = definition as Definition & { readonly metadata: object }
  const annotatedMetadata = { ...metadata, annotations: ANNOTATIONS }
  return Object.assign({}, definition, { metadata: annotatedMetadata })
}
