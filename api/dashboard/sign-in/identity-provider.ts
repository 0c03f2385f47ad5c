import { createHash, randomBytes } from 'node:crypto'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  ClientSecretBasic,
  type Configuration,
  discovery,
  fetchUserInfo,
  None,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client'
import { DrapeError } from '../../shared/contract/errors.ts'

export interface IdentityProviderSettings {
  readonly issuer: string
  readonly clientId: string
  /** Empty for a public client. */
  readonly clientSecret: string
  /** `openid` and the scopes of the evaluated claims. */
  readonly scope: string
  /** URL to which the provider redirects browsers. */
  readonly redirectUrl: string
}

/** Claims about a person. https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims */
export interface Claims {
  readonly sub: string
  readonly [name: string]: unknown
}

/** OpenID Connect provider: authorization code flow with PKCE, state and nonce. */
export interface IdentityProvider {
  /** Displayed name: the host. */
  readonly name: string
  /** Secret that the browser holds during the sign-in. All checks of the callback are derived from it. */
  createTicket(): string
  /** URL to which to redirect the browser. Throws `SERVICE_UNAVAILABLE` when the provider is unavailable. */
  begin(ticket: string): Promise<URL>
  /**
   * Claims of the person who returned with this query. Throws `FORBIDDEN` when the query does not match the ticket or
   * the provider refuses, and `SERVICE_UNAVAILABLE` when the provider is unavailable or does not know this client.
   */
  finish(ticket: string, query: string): Promise<Claims>
}

const TIMEOUT_SECONDS = 10

/** Does not contact the provider before the first sign-in. */
export function createIdentityProvider(settings: IdentityProviderSettings): IdentityProvider {
  const { issuer, redirectUrl, scope } = settings
  const name = new URL(issuer).host
  let known: Promise<Configuration> | null = null
  const find = () => {
    known ??= discover(settings).catch((error) => {
      known = null
      throw error
    })
    return known
  }
  return {
    name,
    createTicket: () => randomBytes(32).toString('base64url'),
    begin: (ticket) =>
      translated(name, async () =>
        buildAuthorizationUrl(await find(), {
          redirect_uri: redirectUrl,
          scope,
          state: derive('state', ticket),
          nonce: derive('nonce', ticket),
          code_challenge: createHash('sha256').update(derive('verifier', ticket)).digest('base64url'),
          code_challenge_method: 'S256',
        }),
      ),
    finish: (ticket, query) =>
      translated(name, async () => {
        const config = await find()
        const tokens = await authorizationCodeGrant(config, new URL(`?${query}`, redirectUrl), {
          expectedState: derive('state', ticket),
          expectedNonce: derive('nonce', ticket),
          pkceCodeVerifier: derive('verifier', ticket),
          idTokenExpected: true,
        })
        return readClaims(config, tokens)
      }),
  }
}

function discover({ issuer, clientId, clientSecret }: IdentityProviderSettings): Promise<Configuration> {
  const authentication = clientSecret === '' ? None() : ClientSecretBasic(clientSecret)
  // The configuration allows http: only in development.
  const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : []
  return discovery(new URL(issuer), clientId, undefined, authentication, { execute, timeout: TIMEOUT_SECONDS })
}

/** 43 characters, the minimum length of a verifier. https://www.rfc-editor.org/rfc/rfc7636#section-4.1 */
function derive(what: string, ticket: string): string {
  return createHash('sha256').update(`${what}:${ticket}`).digest('base64url')
}

/** Many providers return the e-mail address only from the userinfo endpoint. */
async function readClaims(
  config: Configuration,
  tokens: Awaited<ReturnType<typeof authorizationCodeGrant>>,
): Promise<Claims> {
  const claims = tokens.claims()
  if (claims === undefined) throw new DrapeError('FORBIDDEN', 'The sign-in provider did not return your identity.')
  if (config.serverMetadata().userinfo_endpoint === undefined) return claims
  return { ...(await fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims }
}

async function translated<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw translate(name, cause)
  }
}

function translate(name: string, cause: unknown): DrapeError {
  if (cause instanceof DrapeError) return cause
  if (cause instanceof AuthorizationResponseError) {
    return new DrapeError('FORBIDDEN', `${name} refused the sign-in: ${cause.error_description ?? cause.error}.`, {
      cause,
    })
  }
  if (cause instanceof ResponseBodyError && cause.error === 'invalid_grant') {
    return new DrapeError('FORBIDDEN', 'This sign-in has expired or was already used. Start again.', { cause })
  }
  if (cause instanceof ResponseBodyError || cause instanceof WWWAuthenticateChallengeError) {
    return new DrapeError('SERVICE_UNAVAILABLE', `${name} does not accept this dashboard as its client.`, { cause })
  }
  if (cause instanceof ClientError && REFUSED_ANSWERS.includes(cause.code ?? '')) {
    return new DrapeError('FORBIDDEN', 'This sign-in has expired or was started in another browser. Start again.', {
      cause,
    })
  }
  return new DrapeError('SERVICE_UNAVAILABLE', `${name} does not respond. Try again in a moment.`, { cause })
}

/** The library's error codes for a callback that does not match the request. */
const REFUSED_ANSWERS = [
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
]
