import type { Operation } from '../../openapi/operation.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { Type } from '../../shared/schema.ts'
import { Generation } from './generations.schema.ts'

const tag = 'Generations'
const parameters = { id: 'The generationId.' }
const errors: readonly ErrorCode[] = ['GENERATION_NOT_FOUND', 'FORBIDDEN']

export const generationOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/tryon/v1/generations/{id}',
    id: 'getGeneration',
    scopes: ['try-on', 'read'],
    tag,
    summary: 'Fetch a generation',
    parameters,
    answers: { 200: { description: 'As it stands now.', schema: Generation } },
    errors,
  },
  {
    method: 'get',
    path: '/tryon/v1/generations/{id}/events',
    id: 'followGeneration',
    scopes: ['try-on', 'read'],
    tag,
    summary: 'Follow a generation',
    description:
      'Server-sent events: the generation as it stands and after each change, as JSON; closes after its end.',
    parameters,
    answers: {
      200: {
        description: 'The data of each event is a Generation.',
        schema: Type.String(),
        contentType: 'text/event-stream',
      },
    },
    errors,
  },
  {
    method: 'post',
    path: '/tryon/v1/generations/{id}/cancel',
    id: 'cancelGeneration',
    scopes: ['try-on'],
    tag,
    summary: 'Cancel a generation',
    description: 'It fails with `GENERATION_CANCELLED` and its credit comes back; one that has ended stays as it is.',
    parameters,
    answers: { 200: { description: 'As it stands now.', schema: Generation } },
    errors,
  },
]
