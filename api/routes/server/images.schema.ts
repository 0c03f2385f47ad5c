import { named } from '../../openapi/named-schema.ts'
import { RectangleSchema } from '../../shared/generation.ts'
import { Nullable, type Static, Type } from '../../shared/schema.ts'

export const ExternalUserId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Your opaque id of the end user, without personal data; makes erasure possible.',
})

export const KeepForDays = Type.Enum([1, 3, 7], {
  description: 'Days until the images are deleted; the default is the window of the account.',
})

/** The fields beside the file of an upload. */
export const UploadFields = Type.Object({
  crop: Type.Boolean({
    default: true,
    description: 'Whether the photo is cropped to 4:5 around the person; false keeps its framing.',
  }),
  externalUserId: Type.Optional(ExternalUserId),
  keepForDays: Type.Optional(KeepForDays),
})
export type UploadFields = Static<typeof UploadFields>

export const Upload = named(
  'Upload',
  Type.Object({
    imageId: Type.String({ description: 'Goes to person.image.source.id of a try-on.' }),
    imageUrl: Type.String({ format: 'uri', description: 'Preview of what a try-on will see; works for 15 minutes.' }),
    crop: Type.Optional(Nullable(RectangleSchema)),
    personDetected: Type.Optional(Type.Boolean()),
    warnings: Type.Optional(
      Type.Array(
        Type.String({ examples: ['no_person', 'several_people', 'too_small', 'blurred', 'truncated', 'too_dark'] }),
        {
          description: 'Why a try-on of this photo may not go well.',
        },
      ),
    ),
  }),
)
export type Upload = Static<typeof Upload>
