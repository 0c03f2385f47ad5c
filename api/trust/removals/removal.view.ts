import { html } from '../../http/answers/html.ts'
import { presentTextPage } from '../../http/answers/public-page.ts'
import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { RemovalState, RemovalStatus } from './removals.store.ts'

export function presentRemovalForm({ serviceName, reference }: { serviceName: string; reference: string }): string {
  const content = html`
        <p>Did someone make a try-on image from a photo of you? Send your photo, or the image that you saw. Copies that were made smaller or saved in another format are found too.</p>
        <p>Your image is not stored. Only a hash is stored, which finds copies of the image. A person decides within 48 hours.</p>
        <form method="post" action="/removal" enctype="multipart/form-data">
          <input type="hidden" name="reference" value="${reference}">
          <label>Image (JPEG, PNG, WebP or HEIC, at most 10 MB)<input type="file" name="file" accept="image/*" required></label>
          <label>Your e-mail address<input type="email" name="email" autocomplete="email" maxlength="254" required></label>
          <label>Why should it be removed?<textarea name="reason" rows="4" minlength="3" maxlength="1000" required></textarea></label>
          <button>Request removal</button>
        </form>`
  return presentTextPage({ heading: 'Remove an image of me', content, serviceName })
}

const STATES: Readonly<Record<RemovalState, { heading: string; text: string }>> = {
  OPEN: {
    heading: 'Your request was received',
    text: 'A person will decide on it. Open this page again to read the decision.',
  },
  ERASING: { heading: 'Your request was granted', text: 'The images are being erased.' },
  ERASED: {
    heading: 'The images were erased',
    text: 'The images and everything made from them are erased from the storage.',
  },
  DECLINED: { heading: 'Your request was declined', text: 'You can ask again with another image.' },
}

export function presentRemovalState({
  state,
  answer,
  createdAt,
  dueAt,
  decidedAt,
  reference,
  serviceName,
}: RemovalStatus & { reference: string; serviceName: string }): string {
  const { heading, text } = STATES[state]
  const facts = [
    ['Reference', reference],
    ['Sent', presentTime(createdAt)],
    decidedAt === null ? ['Decision by', presentTime(dueAt)] : ['Decided', presentTime(decidedAt)],
    ...(answer === null ? [] : [['Reason', answer]]),
  ]
  const content = html`
        <p>${text}</p>
        <dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd dir="auto">${value}</dd>`)}</dl>
        <p>Keep the address of this page: <a href="/removal/${reference}">/removal/${reference}</a>. It cannot be guessed.</p>`
  return presentTextPage({ heading, content, serviceName })
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, string>>> = {
  VALIDATION_FAILED: 'The form was incomplete, or was sent before with other contents. Open the page again.',
  FILE_REQUIRED: 'Choose an image.',
  FILE_TOO_LARGE: 'The image is larger than 10 MB.',
  INVALID_IMAGE: 'The image is damaged, too large, or shows too little to be found again.',
  UNSUPPORTED_IMAGE_TYPE: 'The file is not a JPEG, PNG, WebP or HEIC image.',
  ROUTE_NOT_FOUND:
    'No request has this reference number. Part of the address may be missing, or the request was decided long ago.',
  RATE_LIMIT_EXCEEDED: 'Too many requests were sent. Try again later.',
}

/** The page that explains a refusal; null when the reason does not concern visitors. */
export function presentRemovalRefusal(code: ErrorCode, serviceName: string): string | null {
  const text = REFUSALS[code]
  const content = html`<p>${text ?? ''}</p><p><a href="/removal">Back to the form</a></p>`
  return text === undefined ? null : presentTextPage({ heading: 'That did not work', content, serviceName })
}

function presentTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
