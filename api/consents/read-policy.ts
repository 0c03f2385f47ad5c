import { DrapeError, type FieldProblem } from '../shared/contract/errors.ts'
import type { PolicyVersion } from './consents.store.ts'
import { NEUTRAL_VERSION } from './neutral-policy.ts'

const MAX_LANGUAGES = 30
const MAX_TEXT = 4000
const LANGUAGE = /^[a-z]{2}(-[a-z0-9]{1,8}){0,3}$/
const VERSION = /^[\w.:-]{1,64}$/

/** A version to publish as an operator gave it, with languages in lower case. Throws `VALIDATION_FAILED`. */
export function readPolicy({ version, texts }: { version: string; texts: unknown }): PolicyVersion {
  const entries = Object.entries(typeof texts === 'object' && texts !== null ? texts : {})
  const problems: FieldProblem[] = []
  const check = (isGood: boolean, path: string, message: string) => isGood || problems.push({ path, message })
  check(VERSION.test(version), 'version', 'must be 1 to 64 letters, digits, dots, colons, dashes or underscores')
  check(version !== NEUTRAL_VERSION, 'version', `must not be ${NEUTRAL_VERSION}, the version of the neutral text`)
  const count = entries.length
  check(count >= 1 && count <= MAX_LANGUAGES, 'texts', `must have 1 to ${MAX_LANGUAGES} languages`)
  for (const [language, text] of entries.slice(0, MAX_LANGUAGES)) {
    const path = `texts.${language.slice(0, 20)}`
    check(LANGUAGE.test(language.toLowerCase()), path, 'must be named by a language tag such as en or de-at')
    const isText = typeof text === 'string' && text.trim() !== '' && text.length <= MAX_TEXT
    check(isText && isPlain(text), path, `must be plain text of 1 to ${MAX_TEXT} characters`)
  }
  if (problems.length > 0) {
    const [{ path, message }] = problems
    throw new DrapeError('VALIDATION_FAILED', `The policy is not valid: ${path} ${message}.`, { details: problems })
  }
  return {
    version,
    texts: Object.fromEntries(entries.map(([language, text]) => [language.toLowerCase(), text.trim()])),
  }
}

/** Rejects characters that hide or reverse text. */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !/[^\P{C}\n\r\t]/u.test(text)
}
