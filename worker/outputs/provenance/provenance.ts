import { sign } from 'node:crypto'
import { X509Certificate } from '@peculiar/x509'
import { CoseAlgorithmIdentifier, type Signer } from '@trustnxt/c2pa-ts/cose'
import type { EngineKind } from '../../../api/shared/engines/engine-catalogue.ts'
import { encodeImage } from '../../../api/shared/image/image.ts'
import { InvalidConfiguration } from '../../../api/shared/process/config.ts'
import { makeIngredientSalt, nameIngredient } from '../../../api/shared/provenance/ingredient.ts'
import { verifyProvenance } from '../../../api/shared/provenance/verify.ts'
import { embedManifest } from './manifest.ts'
import type { SigningKey } from './signing-key.ts'
import { sourceTypeOf } from './source-type.ts'

export interface Made {
  readonly image: Uint8Array
  readonly engine: { readonly name: string; readonly version: string; readonly kind: EngineKind }
  /** SHA-256 of the list of the engine's model files; null for an engine without model files. */
  readonly weights: string | null
  /** The source images. */
  readonly person: Uint8Array
  readonly products: readonly Uint8Array[]
  /** Salt of the ingredient names, of another result of the job; absent: a new one. */
  readonly ingredientSalt?: string
}

export interface Signed {
  readonly image: Uint8Array
  /** Salt of the ingredient names, as hex. */
  readonly ingredientSalt: string
}

/** Signs a new result: returns the image with Content Credentials. */
export type SignResult = (made: Made) => Promise<Signed>

/**
 * Creates the function that signs results with this key.
 * @throws Error if the certificates cannot sign Content Credentials
 */
export async function createSignResult({ privateKey, certificates }: SigningKey): Promise<SignResult> {
  const [certificate, ...chainCertificates] = certificates.map(({ raw }) => new X509Certificate(new Uint8Array(raw)))
  const signer: Signer = {
    algorithm: CoseAlgorithmIdentifier.Ed25519,
    certificate,
    chainCertificates,
    sign: async (payload) => new Uint8Array(sign(null, payload, privateKey)),
  }
  const signResult: SignResult = async ({
    image,
    engine,
    weights,
    person,
    products,
    ingredientSalt = makeIngredientSalt(),
  }) => {
    const facts = {
      sourceType: sourceTypeOf(engine.kind),
      engine: { ...engine, weights },
      ingredients: [
        { title: 'Photo of the person', name: nameIngredient(person, ingredientSalt) },
        ...products.map((product) => ({
          title: 'Image of the product',
          name: nameIngredient(product, ingredientSalt),
        })),
      ],
      madeAt: Date.now(),
    }
    return { image: await embedManifest(image, facts, signer), ingredientSalt }
  }
  await assertValid(signResult)
  return signResult
}

/** Signs a one-pixel image and verifies the signature as a third party would. */
async function assertValid(signResult: SignResult): Promise<void> {
  const pixel = await encodeImage({ width: 1, height: 1, channels: 3, data: new Uint8Array(3) }, { format: 'png' })
  const engine = { name: 'self-test', version: '1', kind: 'test' as const }
  const { image } = await signResult({ image: pixel, engine, weights: null, person: pixel, products: [pixel] })
  const { problems } = await verifyProvenance(image)
  if (problems.length > 0) {
    throw new InvalidConfiguration([
      `PROVENANCE_CERTIFICATE cannot sign Content Credentials: ${problems.join(' ')} It needs the critical key usage digitalSignature, the extended key usage emailProtection or documentSigning, an authority key identifier, and an issuer of another name`,
    ])
  }
}
