import type { Middleware } from 'koa'
import { pageHeaders } from '../../http/answers/public-page.ts'
import { readUpload } from '../../http/bodies/uploaded-file.ts'
import { refuseByPage, wantsPage } from '../../http/middleware/refuse-by-page.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { ProvenanceKeys } from '../../shared/provenance/provenance-keys.store.ts'
import type { ProvenanceReport } from '../../shared/provenance/verify.ts'
import type { Budgets } from '../../shops/limit-public-routes.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { Provenance, VerifyFields } from './verify.schema.ts'
import { presentForm, presentProvenance, presentVerifyRefusal } from './verify.view.ts'

export interface VerifyParts {
  readonly provenanceKeys: Pick<ProvenanceKeys, 'has'>
  readonly serviceName: string
}

interface VerifyGuards {
  readonly budgets: Budgets
  readonly serviceName: string
  /** Parses the file to verify. */
  readonly parseVerified: Middleware<AppState>
}

/** Public routes that verify who made an image, and how. */
export const verifyRoutes = [
  route({
    method: 'get',
    path: '/verify',
    id: 'getVerifyPage',
    tag: 'Storefront',
    summary: 'Open the page that verifies images',
    description: 'A page with a form for `POST /verify`.',
    access: 'open',
    answers: { 200: { description: 'The page.', schema: Type.String(), contentType: 'text/html' } },
    errors: ['RATE_LIMIT_EXCEEDED'],
    guards: ({ budgets }: VerifyGuards) => [setHeaders, budgets.limit('verify')],
    handler: getPage,
  }),
  route({
    method: 'post',
    path: '/verify',
    id: 'verifyImage',
    tag: 'Storefront',
    summary: 'Verify who made an image, and how',
    description: `Reads the Content Credentials (C2PA) of an image and checks that nothing was changed. Nothing is stored. JSON unless
\`text/html\` is preferred, as browsers do; then a page. ${describeBudget('verify')}`,
    access: 'open',
    pages: [200, 400, 413, 429],
    body: { form: VerifyFields, files: { file: 'The image: JPEG, PNG or WebP, at most 10 MB.' } },
    answers: { 200: { description: 'The result of the verification.', schema: Provenance } },
    errors: ['VALIDATION_FAILED', 'FILE_REQUIRED', 'FILE_TOO_LARGE', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    guards: ({ budgets, serviceName, parseVerified }: VerifyGuards) => [
      setHeaders,
      refuseByPage({ present: (code) => presentVerifyRefusal(code, serviceName) }),
      budgets.limit('verify'),
      parseVerified,
    ],
    handler: postImage,
  }),
]

async function getPage(ctx: AppContext, { serviceName }: VerifyParts): Promise<void> {
  ctx.type = 'html'
  ctx.body = presentForm(serviceName)
}

async function postImage(
  ctx: AppContext,
  { provenanceKeys, serviceName }: VerifyParts,
): Promise<Provenance | undefined> {
  // Its packages take a tenth of the start of the API.
  const { verifyProvenance } = await import('../../shared/provenance/verify.ts')
  const report = await verifyProvenance(await readUpload('file', ctx.state.files))
  const provenance = { ...report, madeHere: await isMadeHere(report, provenanceKeys) }
  if (!wantsPage(ctx)) return presentJson(provenance)
  ctx.type = 'html'
  ctx.body = presentProvenance(provenance, serviceName)
  return undefined
}

async function isMadeHere({ status, signer }: ProvenanceReport, keys: Pick<ProvenanceKeys, 'has'>): Promise<boolean> {
  return status === 'valid' && signer !== null && keys.has(signer.keyFingerprint)
}

/** Omits whether the signer is trusted: callers provide no certificates here. */
function presentJson({ signer, ...known }: ProvenanceReport & { madeHere: boolean }): Provenance {
  if (signer === null) return { ...known, signer } as Provenance
  const { subject, issuer, validUntil, keyFingerprint } = signer
  return { ...known, signer: { subject, issuer, validUntil, keyFingerprint } } as Provenance
}

/** The page runs no scripts and loads nothing. */
const setHeaders = pageHeaders({ vary: 'Accept', cacheControl: 'no-store', formAction: "'self'" })
