import { run } from '../../scripts/stack/commands.ts'
import { provideGo } from '../../scripts/stack/go-tool.ts'

/** A release of a Go module, with the checksum of its files as in go.sum. */
export interface GoModule {
  readonly path: string
  readonly version: string
  readonly sum: string
}

/**
 * The folder of a module in the module cache of Go; downloaded once. Returns the reason if the download fails. Throws if the
 * checksum differs.
 */
export async function findGoModule({
  path,
  version,
  sum,
}: GoModule): Promise<string | { readonly unavailable: string }> {
  const about = await download(`${path}@${version}`)
  if ('unavailable' in about) return about
  if (about.Sum !== sum) throw new Error(`${path}@${version} has the checksum ${about.Sum}, not ${sum}`)
  return about.Dir
}

async function download(
  module: string,
): Promise<{ readonly Dir: string; readonly Sum: string } | { readonly unavailable: string }> {
  try {
    // Outside of any module, so that no other go.mod applies.
    const env = { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off', GO111MODULE: 'on' }
    return JSON.parse(await run(await provideGo(), ['mod', 'download', '-json', module], { cwd: '/', env }))
  } catch (cause) {
    return { unavailable: `${module} could not be brought: ${cause instanceof Error ? cause.message : cause}` }
  }
}
