import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { pageStyle } from '../http/answers/page-style.ts'
import { SAMPLES } from './samples.ts'
import { stripTypes } from './strip-types.ts'

export interface Asset {
  readonly type: string
  readonly read: () => Promise<Buffer | string>
}

export interface Assets {
  /** Part of every file's URL, so that browsers can cache files forever; changes when any file changes. */
  readonly edition: string
  /** By path below the edition. */
  readonly files: ReadonlyMap<string, Asset>
}

const PAGE = new URL('browser/', import.meta.url)
/** Our own client, as published for browsers. */
const CLIENT = new URL('../client/', import.meta.url)
const CLIENT_FILE = /^(?!node\.ts$)[a-z-]+\.ts$/

const STYLE = 'playground.css'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  js: 'text/javascript',
  svg: 'image/svg+xml',
}

/** Reads all files that the page loads. */
export function readAssets(): Assets {
  const hash = createHash('sha256')
  const files = new Map<string, Asset>()
  const add = (path: string, url: URL, asset: Asset) => {
    hash.update(path).update(readFileSync(url))
    files.set(path, asset)
  }
  for (const name of readdirSync(PAGE).sort()) {
    const url = new URL(name, PAGE)
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    const read = async () => (name === STYLE ? pageStyle(await readFile(url, 'utf8')) : await readFile(url))
    add(name, url, { type, read })
  }
  hash.update(pageStyle(''))
  const scripts = once(readClient)
  for (const name of clientFiles()) {
    const read = async () => (await scripts()).get(name) ?? ''
    add(`client/${name}`, new URL(name, CLIENT), { type: 'text/javascript', read })
  }
  for (const { file, url } of SAMPLES) {
    add(`samples/${file}`, url, { type: 'image/jpeg', read: () => readFile(url) })
  }
  return { edition: hash.digest('hex').slice(0, 16), files }
}

function clientFiles(): string[] {
  return readdirSync(CLIENT)
    .filter((name) => CLIENT_FILE.test(name))
    .sort()
}

/** The client's files as JavaScript, by name. */
async function readClient(): Promise<ReadonlyMap<string, string>> {
  const names = clientFiles()
  const sources = await Promise.all(names.map((name) => readFile(new URL(name, CLIENT), 'utf8')))
  const scripts = await stripTypes(sources)
  return new Map(names.map((name, place) => [name, scripts[place]]))
}

/** Caches the result; retries after a failure. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null
  return () => {
    known ??= read().catch((error) => {
      known = null
      throw error
    })
    return known
  }
}
