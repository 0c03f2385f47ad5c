import { ERROR_CODES } from '../../shared/contract/error-codes.ts'
import { Type } from '../../shared/contract/schema.ts'
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
              description:
                'Path of the field as sent; the form field of a file; empty for the body itself, or for the whole request.',
              examples: ['products[0].validForDays', 'products[0].images[1]', 'person.image'],
            }),
            message: Type.String({ examples: ['must be a whole number from 1 to 365'] }),
            check: Type.Optional(
              Type.Enum(['format', 'clock', 'body', 'signature', 'nonce'], {
                description:
                  'PROXY_SIGNATURE_INVALID: the first check that failed. `signature` also covers unknown domains; the dashboard of the service shows which check failed.',
              }),
            ),
            serverTime: Type.Optional(
              Type.String({ format: 'date-time', description: 'PROXY_SIGNATURE_INVALID: current time of the server.' }),
            ),
            version: Type.Optional(Type.String({ description: 'CONSENT_OUTDATED: current version of the policy.' })),
            estimatedStartSeconds: Type.Optional(
              Type.Integer({
                description: 'SERVICE_UNAVAILABLE with maxWaitSeconds: estimated seconds until the start.',
              }),
            ),
            estimatedSeconds: Type.Optional(
              Type.Integer({
                description: 'SERVICE_UNAVAILABLE with maxWaitSeconds: estimated seconds until the end.',
              }),
            ),
          }),
          { description: 'The problems of the request, one per field.' },
        ),
        Type.Object(
          { key: Type.String({ description: 'The missing classification.' }) },
          { description: 'Details of MISSING_REQUIRED_CLASSIFICATION.' },
        ),
      ]),
    ),
  }),
)
