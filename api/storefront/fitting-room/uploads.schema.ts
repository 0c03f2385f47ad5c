import { named } from '../../http/openapi/named-schema.ts'
import { CropPending } from '../../photos/images.schema.ts'
import { type Static, Type } from '../../shared/contract/schema.ts'

export const PreparedUpload = Type.Object({
  uploadUrl: Type.String({
    format: 'uri',
    description: 'URL to which to PUT the bytes of the photo directly, without the proxy. It works for 15 minutes.',
  }),
  uploadKey: Type.String({ description: 'Value of uploadKey in upload-complete.' }),
})
export type PreparedUpload = Static<typeof PreparedUpload>

export const UploadCompleteBody = Type.Object({
  uploadKey: Type.String({ description: 'As returned by prepare-upload.' }),
})
export type UploadCompleteBody = Static<typeof UploadCompleteBody>

export const ReceivedUpload = Type.Object({ uploadKey: Type.String() })

/** A form without fields other than the file. */
export const ShopperUploadFields = Type.Object({})

export const ShopperPhoto = named(
  'ShopperPhoto',
  Type.Object({
    fileId: Type.String({ description: 'Value of userImageId in fitting-room.' }),
    fileUrl: Type.String({
      format: 'uri',
      description: 'URL of the photo as cropped for try-ons. It works for 15 minutes.',
    }),
    cropPending: CropPending,
    message: Type.String({ description: 'Human-readable message.' }),
  }),
)
export type ReceivedUpload = Static<typeof ReceivedUpload>
export type ShopperPhoto = Static<typeof ShopperPhoto>

/** Query parameters of an upload link. */
export const UploadLinkQuery = Type.Object({
  expires: Type.String({ description: 'Expiry, in seconds since 1970.' }),
  signature: Type.String({ description: 'Signature by prepare-upload.' }),
})
