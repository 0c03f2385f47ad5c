import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { ExtendedKeyUsage } from '@peculiar/x509'
import { readYaml } from '../../../controller/runtime/yaml.ts'
import { createAuthority } from '../../support/certificates.ts'

const ENGINE = resolve(import.meta.dirname, '../../fixtures/fashn-vton/engine')

/** An HTTPS server of the files of a tiny engine, with a certificate of a private authority. */
export interface ModelServer {
  /** Certificate of the authority in PEM. */
  readonly authority: string
  /** The Engine resource of the files, with this server as their source. */
  readonly engine: { readonly metadata: { readonly name: string }; readonly [field: string]: unknown }
  /** Sends the file of this name only after the promise, and with this content. */
  replace(file: string, content: (bytes: Buffer) => Buffer | Promise<Buffer>): void
  /** Paths of the requests. */
  readonly asked: readonly string[]
  stop(): void
}

/** Starts a server at an address of this machine. */
export async function startModelServer(address: string): Promise<ModelServer> {
  const authority = await createAuthority()
  const subject = 'CN=models'
  const { key, certificates } = await authority.issue({ subject, usages: [ExtendedKeyUsage.serverAuth], address })
  const replaced = new Map<string, (bytes: Buffer) => Buffer | Promise<Buffer>>()
  const asked: string[] = []
  const server = createServer({ key, cert: certificates }, async ({ url = '' }, response) => {
    const file = url.slice(1)
    asked.push(file)
    const bytes = await readFile(join(ENGINE, file))
    response.end(await (replaced.get(file) ?? ((unchanged) => unchanged))(bytes))
  })
  await new Promise<void>((listening) => server.listen(0, address, listening))
  const base = `https://${address}:${(server.address() as AddressInfo).port}`
  const [engine] = readYaml(await readFile(join(ENGINE, 'kubernetes.yaml'), 'utf8')) as ReturnType<typeof fromUrl>[]
  return {
    authority: authority.certificate,
    engine: fromUrl(engine, base),
    replace: (file, content) => void replaced.set(file, content),
    asked,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function fromUrl(engine: { metadata: { name: string }; spec: object }, base: string) {
  return { ...engine, spec: { ...engine.spec, source: { url: { base } } } }
}
