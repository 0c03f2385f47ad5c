import { named } from '../../openapi/named-schema.ts'
import { type Static, Type } from '../../shared/schema.ts'

export const PreparedUpload = Type.Object({
  uploadUrl: Type.String({
    format: 'uri',
    description: 'Where to PUT the bytes of the photo, without any proxy between; works for 15 minutes.',
  }),
  uploadKey: Type.String({ description: 'Goes to upload-complete after that.' }),
})
export type PreparedUpload = Static<typeof PreparedUpload>

export const UploadCompleteBody = Type.Object({
  uploadKey: Type.String({ description: 'As prepare-upload gave it.' }),
})
export type UploadCompleteBody = Static<typeof UploadCompleteBody>

export const ReceivedUpload = Type.Object({ uploadKey: Type.String() })

/** No field beside the file. */
export const ShopperUploadFields = Type.Object({})

export const ShopperPhoto = named(
  'ShopperPhoto',
  Type.Object({
    fileId: Type.String({ description: 'Goes to userImageId of fitting-room.' }),
    fileUrl: Type.String({ format: 'uri', description: 'Preview of what a try-on will see; works for 15 minutes.' }),
    message: Type.String({ description: 'For people.' }),
  }),
)
export type ReceivedUpload = Static<typeof ReceivedUpload>
export type ShopperPhoto = Static<typeof ShopperPhoto>

/** What the parameters of an upload link mean. */
export const UploadLinkQuery = Type.Object({
  expires: Type.String({ description: 'Until when it works, in seconds since 1970.' }),
  signature: Type.String({ description: 'Made by prepare-upload.' }),
})
