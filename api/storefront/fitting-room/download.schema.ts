import { type Static, Type } from '../../shared/contract/schema.ts'

export const DownloadQuery = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 4096,
    description:
      'Signed, unexpired link to a result or photo, as returned by the API. Links to images of the requesting shopper need no signature.',
  }),
  filename: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'Name of the product, which becomes part of the file name; or a whole file name with an extension. ' +
        'Other characters than letters, digits, spaces and hyphens are removed; a product name is cut to 50 characters.',
      examples: ['Linen shirt'],
    }),
  ),
})
export type DownloadQuery = Static<typeof DownloadQuery>
