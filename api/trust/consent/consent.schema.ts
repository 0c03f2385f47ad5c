import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'

const VERSION = { minLength: 1, maxLength: 64, pattern: '^[\\w.:-]+$' } as const
const LANGUAGE = '^[A-Za-z]{2}(-[A-Za-z0-9]{1,8})*$'

export const ConsentQuery = Type.Object({
  lang: Type.Optional(
    Type.String({ maxLength: 35, pattern: LANGUAGE, description: 'Language of the text. Default: Accept-Language.' }),
  ),
})
export type ConsentQuery = Static<typeof ConsentQuery>

const policy = Type.String({ description: 'Name of the policy: the domain of the shop.' })
const version = Type.String({ description: 'Current version of the policy.' })
const at = Type.String({ format: 'date-time', description: 'When the visitor agreed.' })

export const ConsentNotice = named(
  'ConsentNotice',
  Type.Object({
    required: Type.Boolean({ description: 'Whether the shop requires consent before it stores a photo.' }),
    policy,
    version,
    language: Type.String({ description: 'Language of the text.' }),
    text: Type.String({ description: 'Plain text to show next to an unticked checkbox.' }),
    givenAt: Nullable(Type.String({ format: 'date-time', description: 'When this visitor agreed to this version.' })),
    privacyUrl: Type.String({ format: 'uri', description: 'The privacy page of the shop.' }),
  }),
)
export type ConsentNotice = Static<typeof ConsentNotice>

export const ConsentBody = Type.Object({
  policy: Type.String({ maxLength: 253, description: 'The policy that GET /public/consent returned.' }),
  version: Type.String({ ...VERSION, description: 'The version that GET /public/consent returned.' }),
  language: Type.String({ maxLength: 35, pattern: LANGUAGE, description: 'Language in which the text was shown.' }),
})
export type ConsentBody = Static<typeof ConsentBody>

export const GivenConsent = Type.Object({ policy, version, at })
export type GivenConsent = Static<typeof GivenConsent>
