import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HTTPRequest, Page } from 'puppeteer-core'

/** The result of the reference implementation of C2PA for an image. */
export interface Judgement {
  readonly state: 'Trusted' | 'Valid' | 'Invalid'
  /** Status codes of rejected parts. */
  readonly failures: readonly string[]
  readonly manifest: ManifestSeen | null
}

export interface ManifestSeen {
  readonly claim_generator_info: readonly { readonly name: string; readonly version: string }[]
  readonly ingredients: readonly Record<string, unknown>[]
  readonly assertions: readonly { readonly label: string; readonly data: { readonly actions?: readonly Action[] } }[]
}

interface Action {
  readonly action: string
  readonly when: string
  readonly digitalSourceType: string
  readonly softwareAgent: { readonly name: string; readonly version: string }
  readonly parameters: Readonly<Record<string, unknown>>
}

const ORIGIN = 'http://localhost'
const ENTRY = import.meta.resolve('@contentauth/c2pa-web')
const FILES: Readonly<Record<string, string>> = {
  '/c2pa.js': '@contentauth/c2pa-web',
  '/highgain.js': 'highgain',
  '/ts-deepmerge.js': 'ts-deepmerge',
  '/c2pa.wasm': '@contentauth/c2pa-web/resources/c2pa.wasm',
}
const PAGE = `<link rel="icon" href="data:,"><script type="importmap">
{"imports":{"highgain":"/highgain.js","ts-deepmerge":"/ts-deepmerge.js"}}</script>`

/** Opens `@contentauth/c2pa-web` in a page. Returns a function that verifies an image with these trusted certificates, in PEM. */
export async function openJudge(page: Page) {
  await page.setRequestInterception(true)
  page.on('request', answer)
  await page.goto(`${ORIGIN}/`)
  return async (image: Uint8Array, type: string, trustAnchors = ''): Promise<Judgement> => {
    const base64 = Buffer.from(image).toString('base64')
    const seen = (await page.evaluate(`(${JUDGE})(${JSON.stringify({ base64, type, trustAnchors })})`)) as Seen
    const [manifest = null] = Object.values(seen.manifests)
    const failures = seen.validation_results.activeManifest.failure.map(({ code }) => code)
    return { state: seen.validation_state, failures, manifest }
  }
}

interface Seen {
  readonly manifests: Readonly<Record<string, ManifestSeen>>
  readonly validation_state: Judgement['state']
  readonly validation_results: { readonly activeManifest: { readonly failure: readonly { readonly code: string }[] } }
}

function answer(request: HTTPRequest): void {
  const { protocol, pathname } = new URL(request.url())
  if (protocol !== 'http:') return void request.continue()
  if (pathname === '/') return void request.respond({ contentType: 'text/html', body: PAGE })
  // Its chunks are in the folder of the entry.
  const file = FILES[pathname] ? import.meta.resolve(FILES[pathname]) : new URL(`.${pathname}`, ENTRY).href
  const contentType = pathname.endsWith('.wasm') ? 'application/wasm' : 'text/javascript'
  request.respond({ contentType, body: readFileSync(fileURLToPath(file)) })
}

/** Runs in the page. */
const JUDGE = `async ({ base64, type, trustAnchors }) => {
  const { createC2pa } = await import('/c2pa.js')
  globalThis.library ??= createC2pa({ wasmSrc: '/c2pa.wasm' })
  const { reader: readers } = await globalThis.library
  const image = new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type })
  const reader = await readers.fromBlob(type, image, trustAnchors === '' ? undefined : { trust: { trustAnchors } })
  return reader.manifestStore()
}`
