import { type Static, Type } from '../../api/shared/contract/schema.ts'
import { AGE_COLUMN, defineResource, type ObjectOf, READY_COLUMN } from '../definitions/custom-resource.ts'
import { choice, conditions, fields, list, observedGeneration, seconds } from '../definitions/schema-parts.ts'
import { TIME_ZONE } from '../worker-pool/time-zone.ts'

const REPLICAS = { minimum: 0, maximum: 1000 }

const BoundsSchema = fields(
  {
    min: Type.Integer({ ...REPLICAS, default: 0, description: 'Min number of workers. Default 0, range 0 to 1000.' }),
    max: Type.Integer({
      ...REPLICAS,
      minimum: 1,
      description:
        'Max number of workers. Busy workers above it finish their jobs, take no others and leave. Range 1 to 1000, not below min.',
    }),
    idleBuffer: Type.Integer({
      ...REPLICAS,
      maximum: 100,
      default: 0,
      description:
        'Number of workers in addition to those that the demand requires. Applies only while at least 1 job is waiting or running. Default 0, range 0 to 100.',
    }),
  },
  {
    description: 'Bounds of the number of workers.',
    rules: [{ rule: 'self.min <= self.max', message: 'min must not be above max', fieldPath: '.min' }],
  },
)

const TargetSchema = fields(
  {
    backlogPerSlot: Type.Optional(
      Type.Number({
        minimum: 0.1,
        maximum: 1000,
        description: 'Target number of waiting and running jobs per slot. Range 0.1 to 1000.',
      }),
    ),
    drainWithinSeconds: Type.Optional(
      seconds({
        minimum: 1,
        description:
          'Target number of seconds in which the workers finish all waiting and running jobs, with at most one slot for each job. Range 1 to 86400.',
      }),
    ),
    oldestWaitSeconds: Type.Optional(
      seconds({
        minimum: 1,
        description:
          'Target for the max number of seconds that a job waits before a worker starts the job, with at most one slot for each job. The measured time that a worker needs to start is added: more workers would not shorten it. Range 1 to 86400.',
      }),
    ),
  },
  {
    description:
      'Target from which the controller computes the number of workers. Set exactly one of backlogPerSlot, drainWithinSeconds and oldestWaitSeconds.',
    rules: [
      {
        rule: '[has(self.backlogPerSlot), has(self.drainWithinSeconds), has(self.oldestWaitSeconds)].filter(set, set).size() == 1',
        message: 'set exactly one of backlogPerSlot, drainWithinSeconds and oldestWaitSeconds',
      },
      {
        // The API server compares the minimum with the truncated integer: 0 would pass.
        rule: '!has(self.backlogPerSlot) || double(self.backlogPerSlot) >= 0.1',
        message: 'backlogPerSlot must be at least 0.1',
        fieldPath: '.backlogPerSlot',
      },
    ],
  },
)

const PERIOD = seconds({
  default: 60,
  minimum: 1,
  maximum: 3600,
  description: 'Length in seconds of the period that maxReplicas refers to. Default 60, range 1 to 3600.',
})

const ScaleUpSchema = fields(
  {
    stabilizationSeconds: seconds({
      default: 0,
      maximum: 3600,
      description:
        'Seconds of past demand to consider before workers are added. The controller adds only as many workers as the demand required throughout this time. Default 0, range 0 to 3600.',
    }),
    maxReplicas: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 1000,
      description: 'Max number of workers added within periodSeconds. Default 1000, range 1 to 1000.',
    }),
    periodSeconds: PERIOD,
  },
  { default: {}, description: 'Rate at which workers are added.' },
)

const ScaleDownSchema = fields(
  {
    stabilizationSeconds: seconds({
      default: 300,
      maximum: 3600,
      description:
        'Seconds of past demand to consider before workers are removed. The controller keeps as many workers as the highest demand within this time required. Default 300, range 0 to 3600.',
    }),
    maxReplicas: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 10,
      description:
        'Max number of workers removed within periodSeconds, including the last worker. Workers above bounds.max, the max of a schedule or a hard cost cap leave immediately. Default 10, range 1 to 1000.',
    }),
    periodSeconds: PERIOD,
  },
  { default: {}, description: 'Rate at which workers are removed.' },
)

const ZeroSchema = fields(
  {
    idleSeconds: seconds({
      default: 600,
      description:
        'Seconds without a waiting or running job before the last worker is removed. Applies only when the min number of workers is 0. Default 600, range 0 to 86400.',
    }),
  },
  { default: {}, description: 'Scaling to zero.' },
)

const SamplingSchema = fields(
  {
    intervalSeconds: seconds({
      default: 5,
      minimum: 1,
      maximum: 300,
      description: 'Sampling interval in seconds. A new job triggers an additional sample. Default 5, range 1 to 300.',
    }),
    staleSeconds: seconds({
      default: 60,
      minimum: 5,
      maximum: 3600,
      description: 'Seconds without a successful sample before fallback applies. Default 60, range 5 to 3600.',
    }),
  },
  { default: {}, description: 'Sampling of the demand.' },
)

const FallbackSchema = fields(
  {
    mode: choice(['Hold', 'Static', 'HoldOrHigher'], {
      default: 'Hold',
      description:
        'Number of workers while the demand is unknown. Hold: the current number. Static: replicas. HoldOrHigher: the current number or replicas, whichever is higher. The bounds still apply. Default Hold.',
    }),
    replicas: Type.Optional(
      Type.Integer({
        ...REPLICAS,
        description: 'Number of workers for the modes Static and HoldOrHigher. Range 0 to 1000.',
      }),
    ),
  },
  {
    default: {},
    description: 'Behaviour after the demand could not be read for sampling.staleSeconds.',
    rules: [{ rule: "self.mode == 'Hold' || has(self.replicas)", message: 'Static and HoldOrHigher need replicas' }],
  },
)

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
const CLOCK = '^([01][0-9]|2[0-3]):[0-5][0-9]$'

const DAYS_OF_START = list(choice(DAYS, { description: 'Day of the week: Mon, Tue, Wed, Thu, Fri, Sat or Sun.' }), {
  set: true,
  minItems: 1,
  maxItems: 7,
  default: [...DAYS],
  description: 'Days of the week on which start applies. Default all days.',
})

const ScheduleSchema = fields(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Name of the schedule, shown in limitedBy of the decisions. 1 to 63 characters.',
    }),
    timeZone: TIME_ZONE,
    days: DAYS_OF_START,
    start: Type.String({
      pattern: CLOCK,
      maxLength: 5,
      description: 'Start time in 24-hour format, for example 18:30.',
    }),
    end: Type.String({
      pattern: CLOCK,
      maxLength: 5,
      description: 'End time in 24-hour format. An end before start is on the next day.',
    }),
    min: Type.Optional(
      Type.Integer({ ...REPLICAS, description: 'Replaces bounds.min while the schedule is active. Range 0 to 1000.' }),
    ),
    max: Type.Optional(
      Type.Integer({
        ...REPLICAS,
        description: 'Replaces bounds.max while the schedule is active, and is enforced like it. Range 0 to 1000.',
      }),
    ),
  },
  {
    description: 'Bounds that apply at certain times of the day.',
    rules: [
      { rule: 'self.start != self.end', message: 'start and end must differ', fieldPath: '.end' },
      { rule: 'has(self.min) || has(self.max)', message: 'set min, max or both' },
      { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'min must not be above max' },
    ],
  },
)

const BudgetSchema = fields(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 63,
      description:
        'Name of the budget, shown in the Reconciling condition while the budget delays a removal. 1 to 63 characters.',
    }),
    maxDraining: Type.Integer({
      minimum: 0,
      maximum: 1000,
      description:
        'Max number of workers that drain at the same time. 0 starts no removals. Workers above bounds.max, the max of a schedule or a hard cost cap drain regardless. Range 0 to 1000.',
    }),
    timeZone: TIME_ZONE,
    days: DAYS_OF_START,
    start: Type.Optional(
      Type.String({ pattern: CLOCK, maxLength: 5, description: 'Start time in 24-hour format, for example 18:30.' }),
    ),
    end: Type.Optional(
      Type.String({
        pattern: CLOCK,
        maxLength: 5,
        description: 'End time in 24-hour format. An end before start is on the next day.',
      }),
    ),
  },
  {
    description: 'Limit on concurrent removals of workers. Without start and end, the budget always applies.',
    rules: [{ rule: 'has(self.start) == has(self.end)', message: 'set both start and end, or neither' }],
  },
)

const CostSchema = fields(
  {
    hourlyCap: Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Max cost of all workers of a pool per hour. Has no effect on a pool whose hourlyCost is 0. Range 0 to 1000000.',
    }),
    mode: choice(['Soft', 'Hard'], {
      default: 'Soft',
      description:
        'Soft: the min number of workers takes precedence over the cap, and busy workers above the cap continue. Hard: the cap takes precedence over the min number of workers, and busy workers above the cap finish their jobs, take no others and leave. Default Soft.',
    }),
  },
  { description: 'Limit on the cost of the workers, in the unit of hourlyCost.' },
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
      description:
        'Schedules of bounds. If several schedules are active, the highest min and the lowest max apply. Max 32.',
    }),
    cost: Type.Optional(CostSchema),
    budgets: list(BudgetSchema, {
      key: 'name',
      maxItems: 16,
      default: [],
      description:
        'Limits on concurrent removals of workers. If several budgets are active, the lowest maxDraining applies. Max 16.',
    }),
  },
  { description: 'Rules that determine the number of workers and the rate at which the number changes.' },
)

export type ScalingRules = Static<typeof ScalingPolicySpecSchema>

export const scalingPolicies = defineResource({
  kind: 'ScalingPolicy',
  plural: 'scalingpolicies',
  shortName: 'dsp',
  description: 'ScalingPolicy holds scaling rules that WorkerPools refer to with scaling.policyRef.',
  spec: ScalingPolicySpecSchema,
  status: fields(
    {
      observedGeneration: observedGeneration(),
      pools: Type.Optional(Type.Integer({ description: 'Number of pools that refer to the policy.' })),
      conditions: conditions(),
    },
    { description: 'Observed state of the policy.' },
  ),
  columns: [
    { name: 'Min', type: 'integer', path: '.spec.bounds.min', description: 'Min number of workers' },
    { name: 'Max', type: 'integer', path: '.spec.bounds.max', description: 'Max number of workers' },
    { name: 'Pools', type: 'integer', path: '.status.pools', description: 'Number of pools that refer to the policy' },
    READY_COLUMN,
    AGE_COLUMN,
  ],
})

export type ScalingPolicy = ObjectOf<typeof scalingPolicies>
