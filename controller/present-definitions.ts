import { CUSTOM_RESOURCES } from './custom-resources.ts'
import { writeYaml } from './runtime/yaml.ts'

/** The CustomResourceDefinitions as YAML, by the name of their file. */
export function presentDefinitions(): Map<string, string> {
  return new Map(
    CUSTOM_RESOURCES.map(({ type, definition }) => [
      `${type.plural}.yaml`,
      `# Written by scripts/crds from the schema in controller/.\n${writeYaml(definition)}`,
    ]),
  )
}
