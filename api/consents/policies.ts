import type { Consents, PolicyVersion } from './consents.store.ts'
import { NEUTRAL_TEXTS, NEUTRAL_VERSION } from './neutral-policy.ts'

/** The name of a policy is the domain of its shop. */
export interface PolicyOwner {
  readonly accountId: string
  readonly domain: string
}

/** Current version of the policy of a shop. */
export async function currentPolicy(
  { accountId, domain }: PolicyOwner,
  consents: Pick<Consents, 'findPolicy'>,
): Promise<PolicyVersion> {
  return (
    (await consents.findPolicy({ accountId, policy: domain })) ?? { version: NEUTRAL_VERSION, texts: NEUTRAL_TEXTS }
  )
}

/** The text in the first of these languages that the policy has, as `de` or `de-AT`; else in English, else in its first language. */
export function chooseText(
  { texts }: PolicyVersion,
  languages: readonly string[],
): { readonly language: string; readonly text: string } {
  const wanted = [...languages.flatMap((tag) => [tag.toLowerCase(), tag.slice(0, 2).toLowerCase()]), 'en']
  const language = wanted.find((tag) => Object.hasOwn(texts, tag)) ?? Object.keys(texts).toSorted()[0]
  return { language, text: texts[language] }
}
