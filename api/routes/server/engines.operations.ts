import type { Operation } from '../../openapi/operation.ts'
import { EngineList } from './engines.schema.ts'

export const engineOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/tryon/v1/engines',
    id: 'listEngines',
    scopes: ['read'],
    tag: 'Engines',
    summary: 'List the engines of the installation',
    description:
      'An engine is known by an Engine resource of the cluster, by a worker that runs it, or by the configuration of the API. The answer may be a few seconds old.',
    answers: { 200: { description: 'All known engines.', schema: EngineList } },
    errors: [],
  },
]
