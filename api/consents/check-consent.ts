import { DrapeError } from '../shared/contract/errors.ts'
import type { Consent } from '../shared/generations/generations.store.ts'
import type { Consents } from './consents.store.ts'
import { NEUTRAL_VERSION } from './neutral-policy.ts'
import { currentPolicy } from './policies.ts'

/** Clocks of callers may be ahead by this, as those of the proxies of shops. */
const MAX_AHEAD_MS = 90_000

type PolicyReader = Pick<Consents, 'findPolicy' | 'isKnownVersion' | 'isShop'>

/**
 * The consent that a caller names, with its time in UTC.
 * @throws DrapeError CONSENT_POLICY_UNKNOWN for a policy that does not belong to the account, CONSENT_OUTDATED for an older version,
 *   VALIDATION_FAILED for a time in the future
 */
export async function checkConsent(
  { policy: named, version, at }: Consent,
  { accountId, consents, now = Date.now() }: { accountId: string; consents: PolicyReader; now?: number },
): Promise<Consent> {
  const policy = named.toLowerCase()
  const time = Date.parse(at)
  if (!(time <= now + MAX_AHEAD_MS)) throw invalidTime()
  await assertCurrent({ accountId, policy }, version, consents)
  return { policy, version, at: new Date(time).toISOString() }
}

/** Throws unless the version is the current one. */
export async function assertCurrent(
  { accountId, policy }: { accountId: string; policy: string },
  version: string,
  consents: PolicyReader,
): Promise<void> {
  const name = { accountId, policy }
  const isShop = await consents.isShop(name)
  const current = isShop
    ? await currentPolicy({ accountId, domain: policy }, consents)
    : await consents.findPolicy(name)
  if (current?.version === version) return
  const isOlder = (isShop && version === NEUTRAL_VERSION) || (await consents.isKnownVersion(name, version))
  if (current === null || !isOlder) {
    throw new DrapeError('CONSENT_POLICY_UNKNOWN', `The account has no policy ${policy} with the version ${version}.`)
  }
  throw new DrapeError(
    'CONSENT_OUTDATED',
    `The consent is to an older version of the policy. Ask again with the current version ${current.version}.`,
    { details: [{ path: 'version', message: `must be ${current.version}`, version: current.version }] },
  )
}

function invalidTime(): DrapeError {
  const problem = { path: 'consent.at', message: 'must be a time that is not in the future' }
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: [problem] })
}
