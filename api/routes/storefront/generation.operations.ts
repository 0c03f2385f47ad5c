import type { Operation } from '../../openapi/operation.ts'
import { Type } from '../../shared/schema.ts'
import { ShopperGeneration } from './generation.schema.ts'

const shared = {
  method: 'get',
  tag: 'Storefront',
  access: 'shop',
  parameters: { id: 'The jobId that fitting-room gave.' },
  errors: ['GENERATION_NOT_FOUND'],
} as const

export const shopperGenerationOperations: readonly Operation[] = [
  {
    ...shared,
    path: '/public/generation/{id}',
    id: 'getShopperGeneration',
    summary: 'Fetch a generation that a shopper asked for',
    description: 'Only those of the shop itself. Ask every 2 seconds, or follow its events.',
    answers: { 200: { description: 'As it stands now.', schema: ShopperGeneration } },
  },
  {
    ...shared,
    path: '/public/generation/{id}/events',
    id: 'followShopperGeneration',
    summary: 'Follow a generation that a shopper asked for',
    description:
      'Server-sent events: the generation as it stands and after each change, as JSON; closes after its end.',
    answers: {
      200: {
        description: 'The data of each event is a ShopperGeneration.',
        schema: Type.String(),
        contentType: 'text/event-stream',
      },
    },
  },
]
