import { run } from '../stack/commands.ts'

/** Signs what a registry stores. */
export interface Signer {
  /** Signs the reference and, for an index, each image in it. */
  sign(reference: string): Promise<void>
  /** Stores a signed in-toto statement about the reference. `predicate` is a file. */
  attest(reference: string, statement: { readonly type: string; readonly predicate: string }): Promise<void>
}

interface SignerOptions {
  /** Path of the program. */
  readonly cosign: string
  /** File or KMS key; without it the identity of the CI run or of the person signs. */
  readonly key?: string
  /** Whether signatures are recorded in Sigstore's public log. */
  readonly isLogged: boolean
}

export function createSigner({ cosign, key, isLogged }: SignerOptions): Signer {
  const options = [
    '--yes',
    ...(key === undefined ? [] : ['--key', key]),
    ...(isLogged ? [] : ['--tlog-upload=false', '--use-signing-config=false']),
  ]
  return {
    sign: async (reference) => void (await run(cosign, ['sign', ...options, '--recursive', reference])),
    attest: async (reference, { type, predicate }) => {
      await run(cosign, ['attest', ...options, '--type', type, '--predicate', predicate, reference])
    },
  }
}
