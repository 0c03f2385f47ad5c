import { Type } from '../shared/contract/schema.ts'

/** The fields of the call that caused the failure of a generation. */
export const ErrorFields = Type.Array(
  Type.Object({
    path: Type.String({ examples: ['products[0].images[1]'] }),
    message: Type.String({
      description: 'The problem.',
      examples: ['The image could not be fetched: the server returned 404.'],
    }),
  }),
  {
    description:
      'When FAILED: the images of the call that caused the failure, by their fields in the current format of the call. The index counts the images of the product, also when the call referred to a product of the catalog.',
  },
)
