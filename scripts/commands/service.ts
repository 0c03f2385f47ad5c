import { CheckFailure } from './failure.ts'
import { UsageError } from './options.ts'

/**
 * Client of the service at DRAPE_URL, with the key of the account, by default DRAPE_API_KEY.
 * @throws UsageError if they are not set
 */
export function readService(
  { DRAPE_URL = 'http://localhost:8080', DRAPE_API_KEY }: NodeJS.ProcessEnv,
  apiKey = DRAPE_API_KEY,
): { readonly url: string; readonly apiKey: string } {
  if (!apiKey) throw new UsageError('DRAPE_API_KEY is not set: the secret key sk_… of an account')
  if (!URL.canParse(DRAPE_URL)) throw new UsageError('DRAPE_URL must be the address of the service')
  return { url: DRAPE_URL, apiKey }
}

/** Converts rejections by the service to failures of the command, without a stack. */
export async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith('Drape')) throw error
    throw new CheckFailure(error.message)
  }
}
