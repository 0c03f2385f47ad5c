import { Type } from '../shared/schema.ts'

/** The fields of the call that a failed generation is about. */
export const ErrorFields = Type.Array(
  Type.Object({
    path: Type.String({ examples: ['products[0].images[1]'] }),
    message: Type.String({
      description: 'What is wrong.',
      examples: ['The image could not be fetched: the server returned 404.'],
    }),
  }),
  {
    description:
      'When FAILED: the images of the call that are at fault, by their fields in the current shape of the call. The index is that of the images of the product, also when the call named a product of the catalog.',
  },
)
