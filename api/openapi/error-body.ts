import { ERROR_CODES } from '../shared/errors.ts'
import { Type } from '../shared/schema.ts'
import { named } from './named-schema.ts'

/** The body of every answer that is an error. */
export const ErrorBody = named(
  'Error',
  Type.Object({
    code: Type.Enum([...ERROR_CODES], { description: 'Stable; branch on this.' }),
    message: Type.String({ description: 'Text for people. It may change; branch on code.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    details: Type.Optional(
      Type.Union([
        Type.Array(
          Type.Object({
            path: Type.String({
              description:
                'The field as you wrote it; the field of the form for a file, and empty for the body itself.',
              examples: ['products[0].validForDays', 'products[0].images[1]', 'person.image'],
            }),
            message: Type.String({ examples: ['must be a whole number from 1 to 365'] }),
          }),
          { description: 'The fields at fault, of VALIDATION_FAILED and of the errors of images.' },
        ),
        Type.Object({ key: Type.String({ description: 'The classification that is missing.' }) }),
        Type.Object(
          {
            check: Type.Enum(['format', 'clock', 'body', 'signature', 'nonce'], {
              description:
                'The first check that failed. `signature` also covers unknown domains; the dashboard of the service shows which check failed.',
            }),
            serverTime: Type.String({ format: 'date-time', description: 'The clock of the server.' }),
          },
          { description: 'Of PROXY_SIGNATURE_INVALID.' },
        ),
        Type.Object(
          { version: Type.String({ description: 'The version that counts now.' }) },
          { description: 'Of CONSENT_OUTDATED.' },
        ),
        Type.Object(
          { estimatedStartSeconds: Type.Integer(), estimatedSeconds: Type.Integer() },
          { description: 'Estimated seconds until the start and until the end of a try-on with maxWaitSeconds.' },
        ),
      ]),
    ),
  }),
)
