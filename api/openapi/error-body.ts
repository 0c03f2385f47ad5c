import { ERROR_CODES } from '../shared/errors.ts'
import { Type } from '../shared/schema.ts'
import { named } from './named-schema.ts'

/** Body of every error response. */
export const ErrorBody = named(
  'Error',
  Type.Object({
    code: Type.Enum([...ERROR_CODES], { description: 'Stable code; branch on it.' }),
    message: Type.String({ description: 'Human-readable text, which may change; branch on code.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    details: Type.Optional(
      Type.Union([
        Type.Array(
          Type.Object({
            path: Type.String({
              description: 'Path of the field as sent; the form field of a file; empty for the body itself.',
              examples: ['products[0].validForDays', 'products[0].images[1]', 'person.image'],
            }),
            message: Type.String({ examples: ['must be a whole number from 1 to 365'] }),
          }),
          { description: 'The invalid fields, for VALIDATION_FAILED and for image errors.' },
        ),
        Type.Object({ key: Type.String({ description: 'The missing classification.' }) }),
        Type.Object(
          {
            check: Type.Enum(['format', 'clock', 'body', 'signature', 'nonce'], {
              description:
                'The first check that failed. `signature` also covers unknown domains; the dashboard of the service shows which check failed.',
            }),
            serverTime: Type.String({ format: 'date-time', description: 'Current time of the server.' }),
          },
          { description: 'Details of PROXY_SIGNATURE_INVALID.' },
        ),
        Type.Object(
          { version: Type.String({ description: 'Current version of the policy.' }) },
          { description: 'Details of CONSENT_OUTDATED.' },
        ),
        Type.Object(
          { estimatedStartSeconds: Type.Integer(), estimatedSeconds: Type.Integer() },
          { description: 'Estimated seconds until the start and until the end of a try-on with maxWaitSeconds.' },
        ),
      ]),
    ),
  }),
)
