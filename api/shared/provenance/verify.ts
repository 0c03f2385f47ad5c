import { X509Certificate } from 'node:crypto'
import type { Asset } from '@trustnxt/c2pa-ts/asset'
import { CBORBox, SuperBox } from '@trustnxt/c2pa-ts/jumbf'
import {
  type ActionAssertion,
  DataHashAssertion,
  IngredientAssertion,
  type Manifest,
  ManifestStore,
  ValidationResult,
} from '@trustnxt/c2pa-ts/manifest'
import { addExtension } from 'cbor-x'
import { openAsset } from './asset.ts'
import { fingerprintOfKey } from './private-key.ts'
import { isTrusted, MAX_ISSUERS } from './trust.ts'

/** Content of a file's manifest and whether it is valid. Texts come from the file: anyone may have written them. */
export interface ProvenanceReport {
  /**
   * `none`: the file has no manifest. `invalid`: the file, its manifest or its signature was changed, or the
   * certificate is not accepted.
   */
  readonly status: 'valid' | 'invalid' | 'none'
  /** Human-readable reasons why the status is not `valid`. */
  readonly problems: readonly string[]
  readonly statement: Statement | null
  readonly signer: SignerReport | null
}

export interface Statement {
  /** Name and version of the program that wrote the manifest. */
  readonly generator: string
  /** Name and version of the engine. */
  readonly engine: string | null
  /** SHA-256 of the list of the engine's model files. */
  readonly weights: string | null
  /** IPTC digital source type. */
  readonly sourceType: string | null
  /** Creation day, e.g. `2026-11-25`. */
  readonly day: string | null
  readonly ingredients: readonly { readonly title: string; readonly name: string | null }[]
}

export interface SignerReport {
  readonly subject: string
  readonly issuer: string
  readonly validUntil: string
  /** SHA-256 of the public key as a hex string: identical for all certificates of a key. */
  readonly keyFingerprint: string
  /** Whether the certificates chain to a certificate that the caller trusts; null when the caller names none. */
  readonly trusted: boolean | null
}

/**
 * Reads and verifies the C2PA manifest of a JPEG, PNG or WebP: hashes, signature, certificate and, with `anchors`, the
 * certificate chain. Never throws because of the content of the file.
 */
export async function verifyProvenance(
  bytes: Uint8Array,
  { anchors = [] }: { anchors?: readonly X509Certificate[] } = {},
): Promise<ProvenanceReport> {
  try {
    const asset = openAsset(bytes)
    if (!asset) return { status: 'none', problems: [NO_IMAGE], statement: null, signer: null }
    const jumbf = asset.getManifestJUMBF()
    if (!jumbf) return { status: 'none', problems: [NO_MANIFEST], statement: null, signer: null }
    if (jumbf.length > MAX_BYTES) return refuse(`are larger than ${MAX_BYTES / 1024} KB`)
    if (countBoxes(jumbf) > MAX_BOXES) return refuse(`have more than ${MAX_BOXES} boxes`)
    const store = ManifestStore.read(SuperBox.fromBuffer(new Uint8Array(jumbf)))
    if (store.manifests.some(hasTooManyAssertions)) return refuse(`have more than ${MAX_ASSERTIONS} assertions`)
    if (store.manifests.some(hasTooManyIssuers)) return refuse(`have more than ${MAX_ISSUERS} issuers of certificates`)
    return await examine(store, { asset: readOnce(asset), anchors })
  } catch (error) {
    const problems = [describe(ValidationResult.fromError(error as Error))].flat()
    return { status: 'invalid', problems, statement: null, signer: null }
  }
}

/** COSE_Sign1 (RFC 9052, 4.2). */
const SIGNATURE_TAG = 18

const NO_IMAGE = 'The file is not a JPEG, PNG or WebP.'
const NO_MANIFEST = 'The file has no Content Credentials. Programs that edit or compress images often remove them.'

/** The manifest of a result has 3 to 8 KB. A larger, forged one could block the event loop for longer than 50 ms. */
const MAX_BYTES = 64 * 1024

/** A result has 4. Each is checked, and a claim can name the same one hundreds of times. */
const MAX_ASSERTIONS = 50

/** Of all levels, and mentions of their addresses. A box takes kilobytes of memory, and 8 bytes in the file. */
const MAX_BOXES = 1000

function countBoxes(jumbf: Uint8Array): number {
  return Buffer.from(jumbf.buffer, jumbf.byteOffset, jumbf.byteLength).toString('latin1').split('jumb').length - 1
}

// Manifests have two tags (RFC 8949, 3.4): 0 for times as text, and 18 for signatures, which the package reads. With the others a few
// hundred bytes can take seconds of processor time: big numbers, and shared values that become text again and again.
for (let tag = 0; tag < 300; tag++) {
  if (tag === SIGNATURE_TAG) continue
  addExtension({
    tag,
    decode: (value: unknown) => {
      if (tag === 0 && typeof value === 'string') return new Date(value)
      throw new RangeError(`the tag ${tag}`)
    },
  } as unknown as Parameters<typeof addExtension>[0])
}

function refuse(reason: string): ProvenanceReport {
  const problem = `The Content Credentials ${reason}, so they are not from a try-on. Use another C2PA reader.`
  return { status: 'invalid', problems: [problem], statement: null, signer: null }
}

function hasTooManyAssertions({ claim }: Manifest): boolean {
  const { assertions = [], gatheredAssertions = [], redactedAssertions = [] } = claim ?? {}
  return assertions.length + gatheredAssertions.length + redactedAssertions.length > MAX_ASSERTIONS
}

function hasTooManyIssuers({ signature }: Manifest): boolean {
  return (signature?.signatureData.chainCertificates.length ?? 0) > MAX_ISSUERS
}

/** Lets the bytes of the image be hashed once: the library hashes them for each mention of the same binding. */
function readOnce(asset: Asset): Asset {
  const read = asset.getDataRange.bind(asset)
  let left = asset.getDataLength()
  asset.getDataRange = async (start, length) => {
    const bytes = await read(start, length)
    left -= bytes.length
    if (left < 0) throw new Error('The manifest needs more than one hash of the image')
    return bytes
  }
  return asset
}

async function examine(
  store: ManifestStore,
  { asset, anchors }: { asset: Asset; anchors: readonly X509Certificate[] },
): Promise<ProvenanceReport> {
  const manifest = store.getActiveManifest()
  const signer = manifest ? signerOf(manifest, anchors) : null
  const problems = [
    ...describe(await store.validate(asset)),
    ...(manifest && coversAllPixels(manifest, asset) ? [] : ['The signature leaves out parts of the image.']),
    ...(signer?.trusted === false ? ['The certificate does not lead to a trusted certificate.'] : []),
  ]
  const status = problems.length === 0 ? 'valid' : 'invalid'
  return { status, problems, statement: manifest ? statementOf(manifest) : null, signer }
}

/** By status code of C2PA 2.2, section 15.2.2. */
const PROBLEMS: Readonly<Record<string, string>> = {
  'assertion.dataHash.mismatch': 'The image was changed after it was signed.',
  'assertion.hashedURI.mismatch': 'The Content Credentials were changed after they were signed.',
  'claimSignature.mismatch': 'The signature does not belong to these Content Credentials.',
  'signingCredential.expired': 'The certificate has expired, or is not valid yet.',
  'signingCredential.invalid': 'The certificate is not one that may sign Content Credentials.',
}

function describe({ isValid, statusEntries }: ValidationResult): string[] {
  if (isValid) return []
  const failures = statusEntries.filter(({ success }) => success === false)
  const texts = failures.map(({ code }) => PROBLEMS[code] ?? `The Content Credentials are damaged (${code}).`)
  return [...new Set(texts)]
}

/** The library accepts any exclusion from the hash; only the manifest itself may be excluded. */
function coversAllPixels({ assertions }: Manifest, asset: Asset): boolean {
  const { start, length } = asset.getHashExclusionRange()
  const bindings = assertions?.getHardBindings() ?? []
  return bindings.every(
    (binding) =>
      binding instanceof DataHashAssertion &&
      binding.exclusions.every((left) => left.start >= start && left.start + left.length <= start + length),
  )
}

function statementOf({ assertions, claim }: Manifest): Statement {
  const [actions] = assertions?.getActionAssertions() ?? []
  const [action] = (actions as ActionAssertion | undefined)?.actions ?? []
  const ingredients = assertions?.assertions.filter((each) => each instanceof IngredientAssertion) ?? []
  const { claimGeneratorName, claimGeneratorVersion } = claim ?? {}
  return {
    generator: nameOf(claimGeneratorName, claimGeneratorVersion) ?? 'unknown',
    engine: nameOf(action?.softwareAgent?.name, action?.softwareAgent?.version),
    weights: textOf(action?.parameters?.[WEIGHTS]),
    sourceType: textOf(action?.digitalSourceType)?.split('/').at(-1) ?? null,
    day: textOf(rawActionOf(actions)?.when)?.slice(0, 10) ?? null,
    ingredients: ingredients.map(({ title, instanceID }) => ({ title: textOf(title) ?? '', name: textOf(instanceID) })),
  }
}

/** Action parameter with the hash of the engine's model files. */
export const WEIGHTS = 'dev.drape.weights'

/** The first action as stored in the file: the library does not parse its time. */
function rawActionOf(actions: ActionAssertion | undefined): { readonly when?: unknown } | undefined {
  const [box] = actions?.sourceBox?.contentBoxes ?? []
  const { content } = box instanceof CBORBox ? box : {}
  return (content as { actions?: { when?: unknown }[] } | undefined)?.actions?.[0]
}

function nameOf(name: unknown, version: unknown): string | null {
  const text = textOf(name)
  return text === null ? null : [text, textOf(version)].filter((part) => part !== null).join(' ')
}

const MAX_LENGTH = 200

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, MAX_LENGTH) : null
}

function signerOf({ signature }: Manifest, anchors: readonly X509Certificate[]): SignerReport | null {
  const { certificate, chainCertificates = [] } = signature?.signatureData ?? {}
  if (!certificate) return null
  const [leaf, ...chain] = [certificate, ...chainCertificates].map(
    ({ rawData }) => new X509Certificate(Buffer.from(rawData)),
  )
  return {
    subject: oneLine(leaf.subject),
    issuer: oneLine(leaf.issuer),
    validUntil: leaf.validToDate.toISOString(),
    keyFingerprint: fingerprintOf(leaf),
    trusted: anchors.length === 0 ? null : isTrusted(leaf, { chain, anchors }),
  }
}

function oneLine(name: string): string {
  return name.split('\n').join(', ').slice(0, MAX_LENGTH)
}

/** SHA-256 of a certificate's public key as a hex string. */
export function fingerprintOf({ publicKey }: X509Certificate): string {
  return fingerprintOfKey(publicKey)
}
