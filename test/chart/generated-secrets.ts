import type { GeneratedSecret } from '../../controller/generated-secrets/ensure-secrets.ts'
import type { Rendered } from './charts.ts'

/** The Secrets that a Job of the rendered chart generates in the cluster; empty if all Secrets are given. */
export function generatedSecretsOf(objects: readonly Rendered[]): GeneratedSecret[] {
  return objects
    .filter(({ kind, metadata }) => kind === 'Job' && metadata.labels?.['app.kubernetes.io/component'] === 'secrets')
    .flatMap(({ spec }) => JSON.parse(spec.template.spec.containers[0].args[1]) as GeneratedSecret[])
}
