import { type AcceptanceParts, acceptTryOn } from '../generations/accept-try-on.ts'
import { planLayers } from '../generations/plan-layers.ts'
import { assertOutfitParts } from '../generations/try-on.refusals.ts'
import { ACCEPTANCE_ERRORS, NEXT } from '../generations/try-on.routes.ts'
import { writing } from '../http/guards.ts'
import { route } from '../http/route.ts'
import type { Translated } from '../http/route-body.ts'
import type { AppContext } from '../http/state.ts'
import { describeOutfit } from '../products/legacy.routes.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { formatPath } from '../shared/contract/schema.ts'
import { AcceptedOutfit, OutfitBody } from './outfits.schema.ts'

export const outfitRoutes = [
  route({
    method: 'post',
    path: '/tryon/v1/outfits',
    id: 'createOutfit',
    scopes: ['try-on'],
    tag: 'Try-on',
    summary: 'Create an image of a person wearing several products',
    description: `2 to 4 products in one image. Products are as in \`POST /tryon/v1/try-on\`, and the answer is one generation. An outfit costs a
try-on for each product, or one in all if the account says so. Two products of one layer, and a one-piece with a top or bottom, are
refused with \`VALIDATION_FAILED\`. Only for engines with \`outfits\`.`,
    body: { json: OutfitBody, hasFiles: true, translate: describeOutfit, refuse: assertOutfitParts },
    repeatable: true,
    answers: { 201: { description: 'Accepted. The credits are reserved.', schema: AcceptedOutfit, next: NEXT } },
    errors: ACCEPTANCE_ERRORS,
    guards: writing,
    handler: postOutfit,
  }),
]

/** Options of the image of a single product: an outfit is judged and refunded by its layers, each drawn over another image. */
function assertOutput({ output }: OutfitBody, { written }: Translated): void {
  const { count, mask, changedMask } = output
  const [name, cure] =
    count > 1
      ? ['count', 'Send the outfit several times, each with another seed.']
      : mask || changedMask
        ? [mask ? 'mask' : 'changedMask', 'Leave it out, or send each product as a try-on.']
        : []
  if (name === undefined) return
  const path = formatPath(written(['output', name]))
  const message = 'is not available for outfits'
  throw new DrapeError('VALIDATION_FAILED', `${path} ${message}. ${cure}`, { details: [{ path, message }] })
}

async function postOutfit(
  ctx: AppContext,
  parts: AcceptanceParts,
  { body, translated }: { readonly body: OutfitBody; readonly translated: Translated },
): Promise<AcceptedOutfit> {
  assertOutput(body, translated)
  const { findProduct } = parts
  const accountId = ctx.state.account.id
  const outfit = {
    isPartial: body.partial === 'allowed',
    plan: () => planLayers(body.products, { accountId, findProduct }),
  }
  const accepted = await acceptTryOn(ctx, parts, { body, translated, outfit })
  const { generationId, layers, engine, requestedEngine, estimate } = accepted
  return {
    generationId,
    status: 'PENDING',
    layers: (layers ?? []).map(({ layer, externalId }) => ({ productExternalId: externalId, layer })),
    engineName: engine,
    ...(requestedEngine !== null && { requestedEngine }),
    ...estimate,
    ...(translated.warnings.length > 0 && { warnings: [...translated.warnings] }),
  }
}
