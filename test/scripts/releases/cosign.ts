import { run } from '../../../scripts/stack/commands.ts'
import { requestService } from '../../support/request-service.ts'

export interface Keys {
  /** Paths of the private and of the public key. */
  readonly key: string
  readonly publicKey: string
}

export interface Statement {
  readonly _type: string
  readonly predicateType: string
  readonly subject: readonly { readonly digest: Readonly<Record<string, string>> }[]
  readonly predicate: unknown
}

/** A new pair of keys without a password. */
export async function createKeys(cosign: string): Promise<Keys> {
  const { path } = await requestService('folder', null)
  process.env.COSIGN_PASSWORD = ''
  await run(cosign, ['generate-key-pair'], { cwd: path })
  return { key: `${path}/cosign.key`, publicKey: `${path}/cosign.pub` }
}

/** Verifies as users do, but for the public log, which no test can write to. */
export function verifier(cosign: string, { publicKey }: Keys) {
  const options = ['--key', publicKey, '--insecure-ignore-tlog=true']
  return {
    verify: (reference: string) => run(cosign, ['verify', ...options, reference]),
    /** The only attestation of the type. */
    attestation: async (reference: string, type: string): Promise<Statement> => {
      const stdout = await run(cosign, ['verify-attestation', ...options, '--type', type, reference])
      const envelopes = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { payload: string })
      if (envelopes.length !== 1) throw new Error(`${envelopes.length} attestations of the type ${type}`)
      return JSON.parse(Buffer.from(envelopes[0].payload, 'base64').toString())
    },
  }
}
