import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

const CONTAINERFILE = readFileSync(join(import.meta.dirname, '../../Containerfile'), 'utf8')

/**
 * The environment variables that the Containerfile sets for a target, so that a program measured outside its image runs as
 * in the image. Throws if the target does not exist.
 */
export function readImageVariables(target: string, text = CONTAINERFILE): Readonly<Record<string, string>> {
  const stage = text.split(/^(?=FROM )/m).find((lines) => new RegExp(`^FROM \\S+ AS ${target}$`, 'm').test(lines))
  if (stage === undefined) throw new Error(`The Containerfile has no target ${target}`)
  const [...instructions] = stage.replaceAll(/\\\n\s*/g, '').matchAll(/^ENV (.+)$/gm)
  const pairs = instructions.flatMap(([, given]) => given.match(/\w+=(?:"[^"]*"|\S+)/g) ?? [])
  return Object.fromEntries(
    Object.entries(parseEnv(pairs.join('\n'))).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
