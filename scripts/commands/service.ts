import type { ConnectionOptions } from '../../api/client/connection.ts'
import { readBase, readKey } from '../../api/client/request.ts'
import { CheckFailure } from './failure.ts'
import { UsageError } from './options.ts'

/**
 * Connection to the service at DRAPE_URL, with the key of the account, by default DRAPE_API_KEY.
 * @throws UsageError if the key is not set, or one of them is invalid
 */
export function readService(
  { DRAPE_URL = 'http://localhost:8080', DRAPE_API_KEY }: NodeJS.ProcessEnv,
  apiKey = DRAPE_API_KEY,
): Pick<ConnectionOptions, 'url'> & { readonly apiKey: string } {
  if (!apiKey) throw new UsageError('DRAPE_API_KEY is not set: the secret key sk_… of an account')
  try {
    return { url: readBase('DRAPE_URL', DRAPE_URL), apiKey: readKey('The API key', apiKey) }
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

/** Converts rejections by the service to failures of the command, without a stack; `then` says what to do next. */
export async function explained<T>(answer: Promise<T>, then = ''): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof Error) || !/^Drape.+Error$/.test(error.name)) throw error
    throw new CheckFailure(`${error.message}${then}`)
  }
}
