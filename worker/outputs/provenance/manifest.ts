import { randomUUID } from 'node:crypto'
import type { Signer } from '@trustnxt/c2pa-ts/cose'
import { CBORBox } from '@trustnxt/c2pa-ts/jumbf'
import {
  ActionAssertion,
  Assertion,
  type Claim,
  ClaimVersion,
  DataHashAssertion,
  type HashedURI,
  IngredientAssertion,
  type Manifest,
  ManifestStore,
  RelationshipType,
} from '@trustnxt/c2pa-ts/manifest'
import { VERSION } from '../../../api/shared/process/version.ts'
import { openAsset } from '../../../api/shared/provenance/asset.ts'
import { WEIGHTS } from '../../../api/shared/provenance/verify.ts'

/** The claims of a result's manifest. */
export interface Facts {
  /** IPTC digital source type, as a URI. */
  readonly sourceType: string
  readonly engine: { readonly name: string; readonly version: string; readonly weights: string | null }
  /** The source images, under names that reveal nothing about their pixels. */
  readonly ingredients: readonly { readonly title: string; readonly name: string }[]
  /** In ms since 1970. Only the date is written. */
  readonly madeAt: number
}

/** Padding of the unsigned part of a 64-byte Ed25519 signature. The library's default is 25,000. */
const PADDING_BYTES = 100

/**
 * Embeds a signed C2PA manifest in the image. Does not change pixels.
 * @throws Error if the image is not JPEG, PNG or WebP
 */
export async function embedManifest(image: Uint8Array, facts: Facts, signer: Signer): Promise<Uint8Array> {
  const asset = openAsset(image)
  if (asset === null) throw new Error('The image cannot hold a manifest')
  const store = new ManifestStore()
  const manifest = store.createManifest({
    claimVersion: ClaimVersion.V2,
    assetFormat: asset.mimeType,
    instanceID: `xmp:iid:${randomUUID()}`,
    defaultHashAlgorithm: 'SHA-256',
    signer,
  })
  const binding = DataHashAssertion.create('SHA-256')
  describe(manifest, facts)
  manifest.addAssertion(binding)
  await asset.ensureManifestSpace(store.measureSize())
  await binding.updateWithAsset(asset)
  await manifest.sign(signer)
  await asset.writeManifestJUMBF(store.getBytes())
  return asset.getDataRange()
}

function describe(manifest: Manifest, facts: Facts): void {
  const { claim, signature } = manifest
  if (!claim || !signature) throw new Error('The library made a manifest without a claim')
  signature.signatureData.paddingLength = PADDING_BYTES
  claim.claimGeneratorName = 'Drape'
  claim.claimGeneratorVersion = VERSION
  const ingredients = facts.ingredients.map(({ title, name }, index) => {
    const ingredient = IngredientAssertion.createV3(RelationshipType.InputTo)
    Object.assign(ingredient, { title, instanceID: name, ...(index > 0 && { labelSuffix: index }) })
    manifest.addAssertion(ingredient)
    return manifest.createAssertionReference(ingredient)
  })
  manifest.addAssertion(new CreatedAction(facts, ingredients))
}

/** The library's own action has no time and lacks newer IPTC terms. */
class CreatedAction extends Assertion {
  override label = 'c2pa.actions.v2'
  override uuid = new ActionAssertion().uuid
  readonly #facts: Facts
  readonly #ingredients: readonly HashedURI[]

  constructor(facts: Facts, ingredients: readonly HashedURI[]) {
    super()
    this.#facts = facts
    this.#ingredients = ingredients
  }

  override generateJUMBFBoxForContent(claim: Claim): CBORBox {
    const { sourceType, engine, madeAt } = this.#facts
    const { name, version, weights } = engine
    const action = {
      action: 'c2pa.created',
      when: `${new Date(madeAt).toISOString().slice(0, 10)}T00:00:00Z`,
      digitalSourceType: sourceType,
      softwareAgent: { name, version },
      parameters: {
        ...(weights !== null && { [WEIGHTS]: weights }),
        ingredients: this.#ingredients.map((ingredient) => claim.reverseMapHashedURI(ingredient)),
      },
    }
    return Object.assign(new CBORBox(), { content: { actions: [action], allActionsIncluded: true } })
  }

  override readContentFromJUMBF(): never {
    throw new Error('Only written')
  }
}
