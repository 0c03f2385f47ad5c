import { type Static, Type } from '../../api/shared/schema.ts'
import { choice, conditions, fields, list, moment } from '../schema-parts.ts'

export const MOST_DECISIONS = 20
export const MOST_WORKERS = 200
export const LONGEST_REASON = 256
export const LONGEST_LIMITS = 1024

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const DecisionSchema = fields(
  {
    at: moment('When.'),
    from: count('Workers before.'),
    to: count('Workers after.'),
    direction: choice(['Up', 'Down', 'None'], { description: 'More, fewer or as many.' }),
    reason: Type.String({ maxLength: LONGEST_REASON, description: 'Why, for people.' }),
    limitedBy: list(Type.String({ maxLength: 128, description: 'A rule.' }), {
      maxItems: 16,
      description: 'The rules that kept it from what the demand asked for.',
    }),
  },
  { description: 'A decision on the number of workers.' },
)

const WorkerSchema = fields(
  {
    name: Type.String({ maxLength: 253, description: 'Its pod.' }),
    state: choice(['Starting', 'Idle', 'Busy', 'Draining', 'Drained', 'Silent'], { description: 'What it does.' }),
    jobs: count('Jobs in hand.'),
  },
  { description: 'A worker of the pool.' },
)

export const PoolStatusSchema = fields(
  {
    observedGeneration: Type.Optional(Type.Integer({ description: 'The edition that was looked at last.' })),
    selector: Type.Optional(Type.String({ maxLength: 512, description: 'Selects the pods, for autoscalers.' })),
    min: Type.Optional(count('Fewest workers by the rules of now.')),
    max: Type.Optional(count('Most workers by the rules of now.')),
    replicas: Type.Optional(count('Workers that are there.')),
    desiredReplicas: Type.Optional(count('Workers that there should be.')),
    readyReplicas: Type.Optional(count('Workers that take jobs.')),
    busyReplicas: Type.Optional(count('Workers with a job in hand.')),
    drainingReplicas: Type.Optional(count('Workers that take no more jobs.')),
    demand: Type.Optional(
      fields(
        {
          waiting: count('Jobs that wait.'),
          inFlight: count('Jobs in hand.'),
          oldestWaitSeconds: count('How long the oldest of them has waited, in steps of a few seconds.'),
        },
        { description: 'What there is to do.' },
      ),
    ),
    hourlyCost: Type.Optional(
      Type.Number({
        description: 'What the workers that are there cost an hour; at most, where their nodes are not known.',
      }),
    ),
    tiers: Type.Optional(
      list(
        fields(
          {
            name: Type.String({ maxLength: 63, description: 'The tier.' }),
            replicas: count('Workers on its nodes.'),
          },
          { description: 'The workers of a tier.' },
        ),
        { maxItems: 4, description: 'Where the workers are, for pools with tiers.' },
      ),
    ),
    limitedBy: Type.Optional(
      Type.String({ maxLength: LONGEST_LIMITS, description: 'What limits the number of workers now.' }),
    ),
    lastDecision: Type.Optional(DecisionSchema),
    decisions: list(DecisionSchema, {
      maxItems: MOST_DECISIONS,
      default: [],
      description: 'The last decisions that changed something or that would have, newest first.',
    }),
    workers: list(WorkerSchema, { maxItems: MOST_WORKERS, default: [], description: 'The workers that are there.' }),
    conditions: conditions(),
  },
  { description: 'What the controller found and did.' },
)

export type PoolStatus = Static<typeof PoolStatusSchema>
export type PastDecision = Static<typeof DecisionSchema>
export type WorkerStatus = Static<typeof WorkerSchema>
