import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'

interface Image {
  readonly registry?: string
  readonly repository: string
  readonly tag: string
  readonly digest: string
}

/**
 * All images that the chart in the folder can use, in the order of its values: the images that an installation without
 * internet access must bring. Read from the values, not from rendered templates.
 */
export async function listImages(folder: string): Promise<string[]> {
  const read = async (file: string) => parse(await readFile(join(folder, file), 'utf8'))
  const [values, { appVersion }] = await Promise.all([read('values.yaml'), read('Chart.yaml')])
  const { registry, tag } = values.image as { registry: string; tag: string }
  return [...new Set(imagesIn(values).map((image) => reference({ registry, ...filled(image, tag || appVersion) })))]
}

function filled(image: Image, tag: string): Image {
  return { ...image, tag: image.tag || tag }
}

function imagesIn(value: unknown): Image[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.values(value).flatMap((inner) => (isImage(inner) ? [inner] : imagesIn(inner)))
}

function isImage(value: unknown): value is Image {
  return typeof value === 'object' && value !== null && 'repository' in value && 'digest' in value
}

function reference({ registry, repository, tag, digest }: Image): string {
  const name = registry ? `${registry}/${repository}` : repository
  return digest ? `${name}@${digest}` : `${name}:${tag}`
}
