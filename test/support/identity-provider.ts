import { createServer } from 'node:http'
import Provider from 'oidc-provider'

export const CLIENT = { id: 'drape', secret: 'a secret of 32 characters at least' }

export interface Person {
  readonly email: string
  readonly email_verified?: boolean
  readonly name?: string
  readonly groups?: readonly string[]
}

/** An OpenID Connect provider that accepts these people by their login with any password. */
export interface TestIdentityProvider extends AsyncDisposable {
  /** URL with another host than the dashboard, so that browsers treat it as another site. */
  readonly issuer: string
}

export async function startIdentityProvider({
  port,
  redirectUrls,
  people,
}: {
  port: number
  redirectUrls: string[]
  people: Readonly<Record<string, Person>>
}): Promise<TestIdentityProvider> {
  const issuer = `http://localhost:${port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUrls }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    cookies: { keys: ['a key for tests'] },
    findAccount: (_, login) =>
      people[login] && { accountId: login, claims: async () => ({ sub: login, ...people[login] }) },
  })
  const server = createServer(provider.callback())
  await new Promise<void>((resolve) => server.listen(port, resolve))
  return {
    issuer,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
