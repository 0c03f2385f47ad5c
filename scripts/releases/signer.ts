import { run } from '../stack/commands.ts'

/** Signs what a registry stores. */
export interface Signer {
  /** Signs the reference and, for an index, each image in it. */
  sign(reference: string): Promise<void>
  /**
   * Stores a signed in-toto statement about the reference, unless a statement of the type and of this signer exists: registries
   * need not let cosign replace it, and after a retry users would find two. `predicate` is a file.
   */
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
  const isAttested = async (reference: string, type: string) => {
    const publicKey = key === undefined ? '' : await run(cosign, ['public-key', '--key', key])
    const signedBy =
      key === undefined
        ? ['--certificate-identity-regexp=.', '--certificate-oidc-issuer-regexp=.']
        : ['--key', 'env://PUBLIC_KEY']
    const logged = isLogged ? [] : ['--insecure-ignore-tlog=true']
    const args = ['verify-attestation', ...signedBy, ...logged, '--type', type, reference]
    return run(cosign, args, { env: { ...process.env, PUBLIC_KEY: publicKey } }).then(
      () => true,
      // Also if the registry does not answer: then attesting fails with the reason.
      () => false,
    )
  }
  return {
    sign: async (reference) => void (await run(cosign, ['sign', ...options, '--recursive', reference])),
    attest: async (reference, { type, predicate }) => {
      if (await isAttested(reference, type)) return
      await run(cosign, ['attest', ...options, '--type', type, '--predicate', predicate, reference])
    },
  }
}
