import { type Static, Type } from '../../shared/schema.ts'

export const DownloadQuery = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 4096,
    description:
      'Link to a result or photo in the object storage, signed and unexpired as the API gave it. Links to images of the shopper who asks need no signature.',
  }),
  filename: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'The name of the product, which becomes part of the name of the file; or a whole name, with an extension. ' +
        'Only letters, digits, spaces and hyphens are kept, and of a product the first 50.',
      examples: ['Linen shirt'],
    }),
  ),
})
export type DownloadQuery = Static<typeof DownloadQuery>
