import { createSecretBox } from '../../api/secrets/secret-box.ts'

/** The encryption key of the processes that tests start, and a box that opens their secrets. */
export const TEST_SECRETS_KEY = '42'.repeat(32)
export const TEST_SECRETS = createSecretBox([Buffer.from(TEST_SECRETS_KEY, 'hex')])
