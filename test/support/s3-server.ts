import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findGoTool } from '../../scripts/stack/go-tool.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { failUnlessAllowed } from './missing.ts'

const VERSITYGW = {
  name: 'versitygw',
  package: 'github.com/versity/versitygw/cmd/versitygw',
  source: { version: 'v1.8.0' },
}
const START_TIMEOUT_MS = 15_000

export interface S3Server {
  readonly endpoint: string
  readonly bucket: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  stop(): Promise<void>
}

/**
 * A real S3 server (versitygw, built once from its Go module) with one empty bucket, over a temporary folder. With `versions`,
 * versioning can be enabled in the bucket. When it cannot be built, fails or returns the reason, as `failUnlessAllowed` does.
 */
export async function startS3Server({ versions = false } = {}): Promise<S3Server | { readonly unavailable: string }> {
  const program = await findGoTool(VERSITYGW)
  if (typeof program === 'string') return start(program, versions)
  failUnlessAllowed(`No S3 server: ${program.unavailable}.`)
  return program
}

async function start(program: string, versions: boolean): Promise<S3Server> {
  const root = await mkdtemp(join(tmpdir(), 'drape-s3-'))
  const [objects, metadata, earlier] = [join(root, 'objects'), join(root, 'metadata'), join(root, 'versions')]
  await mkdir(join(objects, 'images'), { recursive: true })
  await mkdir(metadata)
  await mkdir(earlier)
  const versioning = versions ? ['--versioning-dir', earlier] : []
  const credentials = { accessKeyId: 'drape', secretAccessKey: 'drape-test-secret' }
  const { port, release } = await reserveFreePort()
  await release()
  const address = `127.0.0.1:${port}`
  const server = spawn(
    program,
    ['--quiet', '--health', '/healthy', '--port', address, 'posix', '--sidecar', metadata, ...versioning, objects],
    {
      env: { ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const exited = once(server, 'exit')
  const stop = async () => {
    server.kill('SIGKILL')
    await exited
    await rm(root, { recursive: true, force: true })
  }
  await Promise.race([
    becomesHealthy(`http://${address}/healthy`),
    exited.then(() => Promise.reject(new Error('ended'))),
  ])
  return { endpoint: `http://${address}`, bucket: 'images', credentials, stop }
}

async function becomesHealthy(url: string): Promise<void> {
  const end = Date.now() + START_TIMEOUT_MS
  while (Date.now() < end) {
    const healthy = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (healthy) return
    await sleep(50)
  }
  throw new Error(`no answer from ${url}`)
}
