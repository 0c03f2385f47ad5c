import { html } from '../../http/answers/html.ts'
import { presentDocument, presentFacts } from '../../http/answers/public-page.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { ProvenanceReport } from '../../shared/provenance/verify.ts'

type Verified = ProvenanceReport & { readonly madeHere: boolean }

export function presentForm(serviceName: string): string {
  return present({
    heading: 'Who made this image?',
    text: 'Images of virtual try-ons contain Content Credentials: a signed record of how they were made. Choose an image to read its record. The image is not stored.',
    serviceName,
  })
}

export function presentProvenance(verified: Verified, serviceName: string): string {
  const { heading, text } = verdictOf(verified, serviceName)
  return present({ heading, text, facts: factsOf(verified), serviceName })
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, string>>> = {
  VALIDATION_FAILED: 'The form was incomplete. Choose an image.',
  FILE_REQUIRED: 'Choose an image.',
  FILE_TOO_LARGE: 'The image is larger than 10 MB.',
  RATE_LIMIT_EXCEEDED: 'Too many images were sent from your network. Try again in a minute.',
}

/** The page that explains why an image could not be read; null when the reason does not concern visitors. */
export function presentVerifyRefusal(code: ErrorCode, serviceName: string): string | null {
  const text = REFUSALS[code]
  return text === undefined ? null : present({ heading: 'The image was not read', text, serviceName })
}

function verdictOf({ status, problems, madeHere }: Verified, serviceName: string): { heading: string; text: string } {
  const text = problems.join(' ')
  if (status === 'none') return { heading: 'No Content Credentials', text }
  if (status === 'invalid') return { heading: 'Changed after signing', text: `${text} Do not rely on the record.` }
  if (madeHere) return { heading: `Made with ${serviceName}`, text: 'The image was not changed after it was signed.' }
  return {
    heading: 'Signed by someone else',
    text: `The image was not changed after it was signed, but not with a key of ${serviceName}. Anyone can create a certificate with any name.`,
  }
}

/** IPTC digital source types in plain words. */
const SOURCES: Readonly<Record<string, string>> = {
  composite: 'a product image placed over a photo, without generative AI',
  compositeWithTrainedAlgorithmicMedia: 'a photo edited by generative AI',
  algorithmicallyEnhanced: 'a photo cropped and encoded again, for tests',
}

function factsOf({ statement, signer }: Verified): readonly (readonly [string, string | null])[] {
  const source = statement?.sourceType ?? null
  return [
    ['How', source === null ? null : (SOURCES[source] ?? source)],
    ['Engine', statement?.engine ?? null],
    ['Model files', statement?.weights ?? null],
    ['Made on', statement?.day ?? null],
    ['Made from', statement?.ingredients.map(({ title }) => title).join(', ') || null],
    ['Note by', statement?.generator ?? null],
    ['Signed by', signer?.subject ?? null],
    ['Issued by', signer?.issuer ?? null],
    ['Key', signer?.keyFingerprint ?? null],
  ]
}

function present({
  heading,
  text,
  facts = [],
  serviceName,
}: {
  heading: string
  text: string
  facts?: readonly (readonly [string, string | null])[]
  serviceName: string
}): string {
  const body = html`
    <main>
      <section class="text">
        <h1>${heading}</h1>
        <p>${text}</p>${presentFacts(facts)}
        <form method="post" action="/verify" enctype="multipart/form-data">
          <label>Image (JPEG, PNG or WebP)<input type="file" name="file" accept="image/jpeg,image/png,image/webp" required></label>
          <button>Verify</button>
        </form>
        <small>${serviceName}</small>
      </section>
    </main>`
  return presentDocument({ title: `${heading} – ${serviceName}`, head: html``, body })
}
