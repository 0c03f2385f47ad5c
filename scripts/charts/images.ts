import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'

/**
 * All images that the chart in the folder can use, in the order of its values and then of its values files: the images that an
 * installation without internet access must bring. Read from the values, not from rendered templates.
 */
export async function listImages(folder: string): Promise<string[]> {
  const read = async (file: string) => parse(await readFile(join(folder, file), 'utf8'))
  const files = (await readdir(folder)).filter((name) => /^values-.*\.yaml$/.test(name)).sort()
  const values = await Promise.all(['values.yaml', ...files].map(read))
  const [{ image }, { appVersion }] = [values[0], await read('Chart.yaml')]
  return [...new Set(values.flatMap(imagesIn).map((name) => reference(name, image, appVersion)))]
}

function imagesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'image' && typeof inner === 'string' ? [inner] : imagesIn(inner),
  )
}

/** As the template `drape.image` completes a name. */
function reference(name: string, { registry, tag }: { registry: string; tag: string }, appVersion: string): string {
  const [, own = '', rest] = /^((?:[^/]*[.:][^/]*|localhost)\/)?(.*)$/.exec(name) ?? []
  const tagged = /[:@]/.test(rest) ? rest : `${rest}:${tag || appVersion}`
  const prefix = own || (registry && `${registry}/`)
  return `${prefix}${tagged}`
}
