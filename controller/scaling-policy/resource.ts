import { type Static, Type } from '../../api/shared/schema.ts'
import { defineResource, type ObjectOf } from '../custom-resource.ts'
import { choice, conditions, fields, list, seconds } from '../schema-parts.ts'
import { TIME_ZONE } from '../time-zone.ts'

const REPLICAS = { minimum: 0, maximum: 1000 }

const BoundsSchema = fields(
  {
    min: Type.Integer({ ...REPLICAS, default: 0, description: 'Never fewer workers than this.' }),
    max: Type.Integer({ ...REPLICAS, minimum: 1, description: 'Never more workers than this.' }),
    idleBuffer: Type.Integer({
      ...REPLICAS,
      maximum: 100,
      default: 0,
      description: 'Idle workers above what the demand needs, while there is any demand.',
    }),
  },
  {
    description: 'How many workers there may be.',
    rules: [{ rule: 'self.min <= self.max', message: 'min must not be above max', fieldPath: '.min' }],
  },
)

const TargetSchema = fields(
  {
    backlogPerSlot: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 1000, description: 'Jobs, waiting or running, for each slot of a worker.' }),
    ),
    drainWithinSeconds: Type.Optional(
      seconds({ minimum: 1, description: 'All that waits now is done within this time.' }),
    ),
    oldestWaitSeconds: Type.Optional(
      seconds({ minimum: 1, description: 'No job waits longer than this before it starts.' }),
    ),
  },
  {
    description: 'What the number of workers aims at.',
    rules: [
      {
        rule: '[has(self.backlogPerSlot), has(self.drainWithinSeconds), has(self.oldestWaitSeconds)].filter(set, set).size() == 1',
        message: 'set exactly one of backlogPerSlot, drainWithinSeconds and oldestWaitSeconds',
      },
    ],
  },
)

const ScaleUpSchema = fields(
  {
    stabilizationSeconds: seconds({
      default: 0,
      maximum: 3600,
      description: 'The demand has to hold for this long before workers are added.',
    }),
    maxReplicas: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 1000,
      description: 'At most so many workers are added within periodSeconds.',
    }),
    periodSeconds: seconds({
      default: 60,
      minimum: 1,
      maximum: 3600,
      description: 'The time that maxReplicas counts in.',
    }),
  },
  { default: {}, description: 'How fast workers are added.' },
)

const ScaleDownSchema = fields(
  {
    stabilizationSeconds: seconds({
      default: 300,
      maximum: 3600,
      description: 'So long after the last time that more workers were needed none is removed.',
    }),
    maxReplicas: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 10,
      description: 'At most so many workers are removed within periodSeconds; also on the way to zero.',
    }),
    periodSeconds: seconds({
      default: 60,
      minimum: 1,
      maximum: 3600,
      description: 'The time that maxReplicas counts in.',
    }),
  },
  { default: {}, description: 'How fast workers are removed.' },
)

const ZeroSchema = fields(
  {
    idleSeconds: seconds({
      default: 600,
      description: 'Where bounds.min is 0: the last worker goes when nothing waited or ran for so long.',
    }),
  },
  { default: {}, description: 'When the last worker goes.' },
)

const SamplingSchema = fields(
  {
    intervalSeconds: seconds({
      default: 5,
      minimum: 1,
      maximum: 300,
      description: 'The demand is looked at so often, and at once when a job arrives.',
    }),
    staleSeconds: seconds({
      default: 60,
      minimum: 5,
      maximum: 3600,
      description: 'When the demand could not be read for so long, the fallback decides.',
    }),
  },
  { default: {}, description: 'How the demand is measured.' },
)

const FallbackSchema = fields(
  {
    mode: choice(['Hold', 'Static', 'HoldOrHigher'], {
      default: 'Hold',
      description:
        'Hold: as many workers as now. Static: replicas. HoldOrHigher: as many as now, but at least replicas.',
    }),
    replicas: Type.Optional(Type.Integer({ ...REPLICAS, description: 'For Static and HoldOrHigher.' })),
  },
  {
    default: {},
    description: 'What holds while the demand cannot be read.',
    rules: [{ rule: "self.mode == 'Hold' || has(self.replicas)", message: 'Static and HoldOrHigher need replicas' }],
  },
)

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
const CLOCK = '^([01][0-9]|2[0-3]):[0-5][0-9]$'

const DAYS_OF_START = list(choice(DAYS, { description: 'A day of the week.' }), {
  set: true,
  minItems: 1,
  maxItems: 7,
  default: [...DAYS],
  description: 'The days on which it starts.',
})

const ScheduleSchema = fields(
  {
    name: Type.String({ minLength: 1, maxLength: 63, description: 'Shown where it limits a decision.' }),
    timeZone: TIME_ZONE,
    days: DAYS_OF_START,
    start: Type.String({ pattern: CLOCK, maxLength: 5, description: 'When it starts, as in 18:30.' }),
    end: Type.String({
      pattern: CLOCK,
      maxLength: 5,
      description: 'When it ends; before start means on the next day.',
    }),
    min: Type.Optional(Type.Integer({ ...REPLICAS, description: 'Instead of bounds.min meanwhile.' })),
    max: Type.Optional(Type.Integer({ ...REPLICAS, description: 'Instead of bounds.max meanwhile.' })),
  },
  {
    description: 'Other bounds for some hours.',
    rules: [
      { rule: 'self.start != self.end', message: 'start and end must differ', fieldPath: '.end' },
      { rule: 'has(self.min) || has(self.max)', message: 'set min, max or both' },
      { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'min must not be above max' },
    ],
  },
)

const BudgetSchema = fields(
  {
    name: Type.String({ minLength: 1, maxLength: 63, description: 'Shown where it holds a removal up.' }),
    maxDraining: Type.Integer({
      minimum: 0,
      maximum: 1000,
      description: 'At most so many workers are on their way out at the same time; 0 lets none begin.',
    }),
    timeZone: TIME_ZONE,
    days: DAYS_OF_START,
    start: Type.Optional(Type.String({ pattern: CLOCK, maxLength: 5, description: 'When it starts, as in 18:30.' })),
    end: Type.Optional(
      Type.String({ pattern: CLOCK, maxLength: 5, description: 'When it ends; before start means on the next day.' }),
    ),
  },
  {
    description: 'How many workers may be removed at once, always or for some hours.',
    rules: [{ rule: 'has(self.start) == has(self.end)', message: 'set both start and end, or neither' }],
  },
)

const CostSchema = fields(
  {
    hourlyCap: Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      description: 'All workers of a pool cost at most this an hour.',
    }),
    mode: choice(['Soft', 'Hard'], {
      default: 'Soft',
      description: 'Soft gives way to the lower bound, Hard to nothing.',
    }),
  },
  { description: 'What the workers may cost, in the unit of their hourlyCost.' },
)

export const ScalingPolicySpecSchema = fields(
  {
    bounds: BoundsSchema,
    target: TargetSchema,
    scaleUp: ScaleUpSchema,
    scaleDown: ScaleDownSchema,
    zero: ZeroSchema,
    sampling: SamplingSchema,
    fallback: FallbackSchema,
    schedules: list(ScheduleSchema, {
      key: 'name',
      maxItems: 32,
      default: [],
      description: 'Other bounds for some hours; where several hold, the highest min and the lowest max count.',
    }),
    cost: Type.Optional(CostSchema),
    budgets: list(BudgetSchema, {
      key: 'name',
      maxItems: 16,
      default: [],
      description: 'How many workers may be removed at once; where several hold, the lowest counts.',
    }),
  },
  { description: 'How many workers there should be, and how fast that may change.' },
)

export type ScalingRules = Static<typeof ScalingPolicySpecSchema>

export const scalingPolicies = defineResource({
  kind: 'ScalingPolicy',
  plural: 'scalingpolicies',
  shortName: 'dsp',
  description: 'Rules for the number of workers, for pools that name it.',
  spec: ScalingPolicySpecSchema,
  status: fields(
    {
      observedGeneration: Type.Optional(Type.Integer({ description: 'The edition that was looked at last.' })),
      pools: Type.Optional(Type.Integer({ description: 'Pools that name this policy.' })),
      conditions: conditions(),
    },
    { description: 'What the controller found.' },
  ),
  columns: [
    { name: 'Min', type: 'integer', path: '.spec.bounds.min', description: 'Fewest workers' },
    { name: 'Max', type: 'integer', path: '.spec.bounds.max', description: 'Most workers' },
    { name: 'Pools', type: 'integer', path: '.status.pools', description: 'Pools that name it' },
    { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status', description: 'In use' },
    { name: 'Age', type: 'date', path: '.metadata.creationTimestamp', description: 'Since it was made' },
  ],
})

export type ScalingPolicy = ObjectOf<typeof scalingPolicies>
