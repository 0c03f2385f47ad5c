import { X509Certificate } from 'node:crypto'
import { nameIngredient } from '../../api/shared/provenance/ingredient.ts'
import type { ProvenanceReport } from '../../api/shared/provenance/verify.ts'
import type { Answer, FreeCommand } from './command.ts'
import { argument, type Options, option, readGiven, required, UsageError } from './options.ts'

export const provenanceCommands: Readonly<Record<string, FreeCommand>> = {
  'provenance verify': {
    summary: 'verify an image: show its origin, and whether it was changed; exit code 1 unless it is valid',
    argument: argument('file', 'a JPEG, PNG or WebP'),
    options: [
      option('--trust <file>', 'certificates in PEM; the certificate of the image must lead to one of them'),
      option('--ingredient <file>', 'an image; shows whether the result was made from it'),
      option('--salt <hex>', 'ingredientSalt of the generation, for --ingredient'),
    ],
    run: verify,
  },
}

async function verify({ file, trust, ingredient, salt }: Options): Promise<Answer> {
  const bytes = await readGiven(required(file, 'file'))
  const anchors = trust === undefined ? [] : readCertificates(String(await readGiven(trust)))
  // Its packages take as long to load as most commands to run.
  const { verifyProvenance } = await import('../../api/shared/provenance/verify.ts')
  const report = await verifyProvenance(bytes, { anchors })
  const isIngredient = ingredient === undefined ? undefined : await contains(report, await readGiven(ingredient), salt)
  if (report.status !== 'valid' || isIngredient === false) process.exitCode = 1
  return { ...report, ...(isIngredient !== undefined && { isIngredient }) }
}

/** Whether the image, or its normalised form in the storage, is among the ingredients. */
async function contains(
  { statement }: ProvenanceReport,
  image: Uint8Array,
  salt: string | undefined,
): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(salt ?? ''))
    throw new UsageError('--ingredient requires --salt, the ingredientSalt of the generation')
  const known = statement?.ingredients.map(({ name }) => name) ?? []
  const { normaliseImage } = await import('../../api/shared/image/image.ts')
  const forms = [image, (await normaliseImage(image)).bytes]
  return forms.some((form) => known.includes(nameIngredient(form, salt ?? '')))
}

function readCertificates(text: string): X509Certificate[] {
  const pems = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    const certificates = pems.map((pem) => new X509Certificate(pem))
    if (certificates.length > 0) return certificates
  } catch {
    // Said below.
  }
  throw new UsageError('--trust must be a file of certificates in PEM')
}
