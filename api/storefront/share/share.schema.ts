import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { HOST_NAME } from '../../shops/shop-settings.ts'

export const ShareBody = Type.Object({
  generationId: Type.String({ description: 'Id of a COMPLETED generation of this shop.' }),
  effectiveDomain: Type.Optional(
    Type.String({
      maxLength: 253,
      pattern: HOST_NAME,
      description:
        'Host name of the page, if it is the domain or an extra domain of the shop. Otherwise the domain of the shop is used.',
      examples: ['www.shop.example'],
    }),
  ),
})

export type ShareBody = Static<typeof ShareBody>

export const ShareLink = named(
  'ShareLink',
  Type.Object({
    shareToken: Type.String(),
    shareUrl: Type.String({ format: 'uri', description: 'Public URL; needs no authentication.' }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'Expiry of the link: the expiry of the image, at most 30 days.',
    }),
  }),
)
export type ShareLink = Static<typeof ShareLink>

/** Public fields of a shared result: nothing about the shopper except the image. */
export const SharedTryOn = named(
  'SharedTryOn',
  Type.Object({
    shareToken: Type.String(),
    shareUrl: Type.String({ format: 'uri' }),
    expiresAt: Type.String({ format: 'date-time' }),
    generation: Type.Object({
      status: Type.Literal('COMPLETED'),
      resultImageUrl: Type.String({
        format: 'uri',
        description: 'Works for 1 hour; fetch the link again for a new URL.',
      }),
      createdAt: Type.String({ format: 'date-time' }),
      updatedAt: Type.String({ format: 'date-time' }),
    }),
    product: Type.Object({
      productId: Type.String(),
      title: Nullable(Type.String()),
      description: Nullable(Type.String()),
      imageUrl: Nullable(Type.String({ description: 'URL of an image of the product, if it has one.' })),
    }),
    merchant: Type.Object({
      name: Type.String(),
      domain: Type.String({ description: 'Domain or extra domain of the shop.' }),
      url: Type.String({ format: 'uri' }),
    }),
  }),
)
export type SharedTryOn = Static<typeof SharedTryOn>
