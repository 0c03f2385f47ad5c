import { AcceptedTryOn, TryOnBody } from '../generations/try-on.schema.ts'
import { named } from '../http/openapi/named-schema.ts'
import { ProductBody } from '../products/products.schema.ts'
import { type Static, Type } from '../shared/contract/schema.ts'
import { LAYERS, MAX_LAYERS } from '../shared/generations/generation.ts'

const OutfitProduct = Type.Object({
  ...ProductBody.properties,
  layer: Type.Optional(
    Type.Enum([...LAYERS], {
      description:
        'Layer of the product. Default: its category, by the classifications or words of the product. Send outerwear for a shirt or cardigan that is worn open over a top.',
    }),
  ),
})

export const OutfitBody = named(
  'Outfit',
  Type.Object({
    ...TryOnBody.properties,
    products: Type.Array(OutfitProduct, {
      minItems: 2,
      maxItems: MAX_LAYERS,
      description:
        'Products in any order. Only outerwear may occur more than once; it is put on in the order of the list.',
    }),
    partial: Type.Enum(['refused', 'allowed'], {
      default: 'refused',
      description:
        'allowed: the image leaves out products that the engine refuses, if it can show at least one. refused: the outfit fails then.',
    }),
  }),
)
export type OutfitBody = Static<typeof OutfitBody>

const { productExternalId, ...accepted } = AcceptedTryOn.properties

export const AcceptedOutfit = named(
  'AcceptedOutfit',
  Type.Object({
    ...accepted,
    layers: Type.Array(Type.Object({ productExternalId, layer: Type.Enum([...LAYERS]) }), {
      description: 'In the order of the call.',
    }),
  }),
)
export type AcceptedOutfit = Static<typeof AcceptedOutfit>
