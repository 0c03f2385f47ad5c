import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OWN_ARCHITECTURE, type Target } from '../container/build.ts'
import type { Registry } from './registry.ts'

/** A parameter of the Containerfile that names a base image, and its value with a digest. */
export interface Base {
  readonly parameter: string
  readonly image: string
}

/**
 * The base images of the targets, each with a digest: the variables BASE and PYTHON, or the defaults of the Containerfile.
 * @throws Error if the registry does not know the digest of a tag.
 */
export async function pinBases(
  targets: readonly Target[],
  { root, registry, env }: { root: string; registry: Pick<Registry, 'findDigest'>; env: NodeJS.ProcessEnv },
): Promise<Base[]> {
  const containerfile = readFileSync(join(root, 'Containerfile'), 'utf8')
  const defaults = Object.fromEntries(
    [...containerfile.matchAll(/^ARG (BASE|PYTHON)=(\S+)$/gm)].map(([, parameter, image]) => [parameter, image]),
  )
  const readParameter = (parameter: string) => env[parameter] || defaults[parameter]
  const base = await pin(readParameter('BASE'), registry)
  const builder = await pinForThisMachine(base, registry)
  const bases = [
    { parameter: 'BASE', image: base },
    { parameter: 'BUILDER', image: builder },
  ]
  if (!targets.includes('worker-cuda')) return bases
  return [...bases, { parameter: 'PYTHON', image: await pin(readParameter('PYTHON'), registry) }]
}

async function pin(image: string, registry: Pick<Registry, 'findDigest'>): Promise<string> {
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return image
  const digest = await registry.findDigest(image)
  if (digest === undefined) throw new Error(`The base image ${image} does not exist`)
  return `${image}@${digest}`
}

async function pinForThisMachine(image: string, registry: Pick<Registry, 'findDigest'>): Promise<string> {
  const platform = `linux/${OWN_ARCHITECTURE}`
  const digest = await registry.findDigest(image, platform)
  if (digest === undefined) throw new Error(`The base image ${image} does not exist for ${platform}`)
  return `${image.replace(/@.*$/, '')}@${digest}`
}
