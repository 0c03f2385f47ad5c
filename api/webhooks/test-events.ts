import type { WebhookMessageType } from './messages.schema.ts'

type TestData = Readonly<Record<string, string | number | boolean>>

/** Data of a test event: `test` is true, and the objects that it names do not exist. */
export function testDataOf(type: WebhookMessageType, id: string): TestData {
  const generation = { generationId: `gen_test_${id}`, productExternalId: 'test-product', test: true }
  const examples: Readonly<Record<WebhookMessageType, TestData>> = {
    'generation.completed': { ...generation, status: 'COMPLETED' },
    'generation.failed': { ...generation, status: 'FAILED', errorCode: 'GENERATION_FAILED' },
    'credits.low': { creditBalance: 9, creditsLowAt: 10, test: true },
    'customer.erased': { externalUserId: 'test-customer', erasureId: `era_test_${id}`, test: true },
    'erasure.confirmed': { erasureId: `era_test_${id}`, test: true },
    'review.decided': {
      generationId: generation.generationId,
      productExternalId: 'test-product',
      state: 'ALLOWED',
      test: true,
    },
    'webhook.test': { endpointId: 'endpoint_test', test: true },
  }
  return examples[type]
}
