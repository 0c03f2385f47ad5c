import { Output } from '../../../api/generations/try-on.schema.ts'
import { OutfitBody } from '../../../api/outfits/outfits.schema.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { FORMATS, LAYERS, MAX_LAYERS, MODES } from '../../../api/shared/generations/generation.ts'

const imageFields = {
  path: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'A file on this machine, absolute or relative to your folder: JPEG, PNG, WebP or HEIC.',
    }),
  ),
  url: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'URL from which the service downloads the image.' }),
  ),
  base64: Type.Optional(Type.String({ minLength: 1, description: 'Bytes of the image in base64, or as a data URL.' })),
}
const oneOf = { additionalProperties: false, minProperties: 1, maxProperties: 1 }

const ImageSource = Type.Object(imageFields, { ...oneOf, description: 'Exactly one of path, url and base64.' })

const uploadFields = {
  ...imageFields,
  id: Type.Optional(Type.String({ minLength: 1, description: 'The imageId of an upload.' })),
}

const PersonSource = Type.Object(uploadFields, {
  ...oneOf,
  description: 'The photo of the person: exactly one of path, url, base64 and id.',
})

const MaskSource = Type.Object(uploadFields, { ...oneOf, description: 'Exactly one of path, url, base64 and id.' })

const outputFields = {
  engine: Type.Optional(
    Type.String({
      maxLength: 48,
      description:
        'Name of an engine of the service, for example warp or fashn-vton. mock returns the photo unchanged and costs nothing.',
    }),
  ),
  mode: Type.Optional(Type.Enum([...MODES])),
  format: Type.Optional(Type.Enum([...FORMATS])),
  seed: Type.Optional(Type.Integer({ minimum: 0 })),
}

const { count, mask, changedMask } = Output.properties

const productFields = {
  externalId: Type.Optional(
    Type.String({ minLength: 1, description: 'ID of a product, as returned by list_products.' }),
  ),
  title: Type.Optional(Type.String({ description: 'Title of the product. Helps to classify the garment.' })),
  image: Type.Optional(ImageSource),
}
const aProduct = {
  minProperties: 1,
  description: 'A product of the catalog by its externalId, or any other product by its image.',
}

export const TryOnToolInput = Type.Object({
  person: PersonSource,
  product: Type.Object(productFields, aProduct),
  output: Type.Optional(
    Type.Object({
      ...outputFields,
      count: Type.Optional(count),
      mask: Type.Optional(
        Type.Object(
          { image: MaskSource, keep: Type.Optional(mask.properties.keep) },
          {
            description:
              'An image of the size of the whole photo, black and white: only its white region may change, or with keep only the black one.',
          },
        ),
      ),
      changedMask: Type.Optional(changedMask),
    }),
  ),
})

export const OutfitToolInput = Type.Object({
  person: PersonSource,
  products: Type.Array(
    Type.Object(
      {
        ...productFields,
        layer: Type.Optional(Type.Enum([...LAYERS], { description: 'Layer of the product. Default: its category.' })),
      },
      aProduct,
    ),
    { minItems: 2, maxItems: MAX_LAYERS },
  ),
  partial: Type.Optional(OutfitBody.properties.partial),
  // Fields of try_on alone would fail with an error about another field.
  output: Type.Optional(Type.Object(outputFields, { additionalProperties: false })),
})

export const WaitInput = Type.Object({
  generationId: Type.String({ minLength: 1 }),
  timeoutSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3600,
      description: 'Max seconds to wait. Default 50, because many clients time out after 60.',
    }),
  ),
})

export const ListProductsInput = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  cursor: Type.Optional(Type.String()),
})

export const ReadCreditsInput = Type.Object({})
