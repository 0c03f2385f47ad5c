import { named } from '../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { RectangleSchema } from '../shared/generations/generation.ts'
import { IMAGE_DAYS } from '../shared/retention/lifetimes.ts'

/** An ID that a caller chooses, for paths of URLs. */
export const CALLER_ID_RULES = { minLength: 1, maxLength: 255, format: 'caller-id' } as const

export const ExternalUserId = Type.String({
  ...CALLER_ID_RULES,
  format: 'end-user-id',
  description: 'Your opaque id of the end user, without personal data. Required for erasure.',
})

export const KeepForDays = Type.Enum([...IMAGE_DAYS], {
  description: 'Days until the images are deleted. Default: the retention of the account.',
})

/** Of an upload whose photo no worker has examined in time. */
export const CropPending = Type.Optional(
  Type.Literal(true, {
    description:
      'Present if no worker has examined the photo within 15 s, or none runs, or if the image is a mask: the URL then shows the whole photo. Try-ons crop it nevertheless, so no second upload is needed.',
  }),
)

/** Form fields of an upload other than the file. */
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
    imageId: Type.String({ description: 'Value of person.image.source.id in a try-on.' }),
    imageUrl: Type.String({
      format: 'uri',
      description: 'URL of the photo as cropped for try-ons. It works for 15 minutes.',
    }),
    crop: Type.Optional(Nullable(RectangleSchema)),
    personDetected: Type.Optional(Type.Boolean()),
    cropPending: CropPending,
    warnings: Type.Optional(
      Type.Array(
        Type.String({ examples: ['no_person', 'several_people', 'too_small', 'blurred', 'truncated', 'too_dark'] }),
        {
          description: 'Reasons why a try-on with this photo may give a poor result.',
        },
      ),
    ),
  }),
)
export type Upload = Static<typeof Upload>
