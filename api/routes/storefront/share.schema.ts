import { named } from '../../openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'
import { HOST_NAME } from '../../shops/domains.ts'

export const ShareBody = Type.Object({
  generationId: Type.String({ description: 'Of a generation of this shop that is COMPLETED.' }),
  effectiveDomain: Type.Optional(
    Type.String({
      maxLength: 253,
      pattern: HOST_NAME,
      description:
        'Host name of the page. Used when it is the domain or an extra domain of the shop; any other host name, or none, gives the domain of the shop.',
      examples: ['www.shop.example'],
    }),
  ),
})

export type ShareBody = Static<typeof ShareBody>

export const ShareLink = named(
  'ShareLink',
  Type.Object({
    shareToken: Type.String(),
    shareUrl: Type.String({ format: 'uri', description: 'Public; needs no proof of anything.' }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'The end of the link: the end of the picture, at most 30 days.',
    }),
  }),
)
export type ShareLink = Static<typeof ShareLink>

/** What everybody who has the link may see: nothing of the shopper but the picture. */
export const SharedTryOn = named(
  'SharedTryOn',
  Type.Object({
    shareToken: Type.String(),
    shareUrl: Type.String({ format: 'uri' }),
    expiresAt: Type.String({ format: 'date-time' }),
    generation: Type.Object({
      generationId: Type.String(),
      status: Type.Literal('COMPLETED'),
      resultImageUrl: Type.String({ format: 'uri', description: 'Works for an hour; ask again for a fresh one.' }),
      createdAt: Type.String({ format: 'date-time' }),
      updatedAt: Type.String({ format: 'date-time' }),
    }),
    product: Type.Object({
      productId: Type.String(),
      title: Nullable(Type.String()),
      description: Nullable(Type.String()),
      imageUrl: Nullable(Type.String({ description: 'A picture of the product itself, where it has an address.' })),
    }),
    merchant: Type.Object({
      name: Type.String(),
      domain: Type.String({ description: 'Domain or extra domain of the shop.' }),
      url: Type.String({ format: 'uri' }),
    }),
  }),
)
export type SharedTryOn = Static<typeof SharedTryOn>
