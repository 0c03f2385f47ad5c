import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CUSTOM_RESOURCES } from '../../controller/definitions/custom-resources.ts'
import type { Client } from '../../controller/runtime/client.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { DEFINITIONS_FOLDER } from '../../scripts/charts/build.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { until } from '../support/until.ts'
import { DEFINITIONS } from './kinds.ts'

export interface SampleObject extends KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: Readonly<Record<string, unknown>>
}

/** Applies the definitions of the chart and resolves when the API server serves all of them. */
export async function installDefinitions(client: Client): Promise<void> {
  const definitions = (await readFolder(DEFINITIONS_FOLDER)) as KubernetesObject[]
  await Promise.all(definitions.map((definition) => client.apply(DEFINITIONS, { ...definition })))
  for (const { type } of CUSTOM_RESOURCES) await until(() => client.list(type).catch(() => null))
}

/** Every object in `crds/samples/`. */
export async function readSamples(): Promise<SampleObject[]> {
  return (await readFolder(join(ROOT, 'crds/samples'))) as SampleObject[]
}

async function readFolder(folder: string): Promise<unknown[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap(readYaml)
}
