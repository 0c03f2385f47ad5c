import { Type } from '../../api/shared/schema.ts'
import { type Column, defineResource, type ObjectOf } from '../custom-resource.ts'
import { ScalingPolicySpecSchema } from '../scaling-policy/resource.ts'
import { choice, fields, list, moment, objectName } from '../schema-parts.ts'
import { PoolStatusSchema } from './status-schema.ts'
import { AcceleratorSchema, CAPACITY_FIELDS, DrainSchema, TemplateSchema, TierSchema } from './template-schema.ts'

const ScalingSchema = fields(
  {
    mode: choice(['Auto', 'Fixed', 'External'], {
      default: 'Auto',
      description: 'Auto: by the demand. Fixed: spec.replicas. External: spec.replicas, which an autoscaler sets.',
    }),
    policy: Type.Optional(ScalingPolicySpecSchema),
    policyRef: Type.Optional(
      fields({ name: objectName('The ScalingPolicy, in this namespace.') }, { description: 'Rules that pools share.' }),
    ),
  },
  {
    description: 'Who decides on the number of workers, and how.',
    rules: [
      {
        rule: "self.mode == 'Auto' ? has(self.policy) != has(self.policyRef) : !has(self.policy) && !has(self.policyRef)",
        message: 'mode Auto needs either policy or policyRef, the others need neither',
      },
    ],
  },
)

const WarmupSchema = fields(
  {
    timeoutSeconds: Type.Integer({
      minimum: 1,
      maximum: 3600,
      default: 300,
      description: 'A worker that cannot take jobs after this time is started anew.',
    }),
  },
  { default: {}, description: 'From the start of a worker until it takes jobs.' },
)

const CapacitySchema = fields(CAPACITY_FIELDS, {
  default: {},
  description: 'The nodes that the workers run on.',
})

const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`

const COLUMNS: readonly Column[] = [
  { name: 'Mode', type: 'string', path: '.spec.scaling.mode', description: 'Who decides' },
  { name: 'Min', type: 'integer', path: '.status.min', description: 'Fewest workers now' },
  { name: 'Max', type: 'integer', path: '.status.max', description: 'Most workers now' },
  { name: 'Desired', type: 'integer', path: '.status.desiredReplicas', description: 'Workers there should be' },
  { name: 'Up', type: 'integer', path: '.status.readyReplicas', description: 'Workers that take jobs' },
  { name: 'Busy', type: 'integer', path: '.status.busyReplicas', description: 'Workers with a job' },
  { name: 'Waiting', type: 'integer', path: '.status.demand.waiting', description: 'Jobs that wait' },
  { name: 'Oldest', type: 'integer', path: '.status.demand.oldestWaitSeconds', description: 'Longest wait in seconds' },
  { name: 'Limited-By', type: 'string', path: '.status.limitedBy', description: 'What limits the number of workers' },
  { name: 'Ready', type: 'string', path: condition('Ready'), description: 'Whether all is as it should be' },
  { name: 'Age', type: 'date', path: '.metadata.creationTimestamp', description: 'Since it was made' },
  { name: 'Paused', type: 'string', path: condition('Paused'), description: 'Whether it is paused', wide: true },
  { name: 'Cost', type: 'number', path: '.status.hourlyCost', description: 'What it costs an hour', wide: true },
]

export const workerPools = defineResource({
  kind: 'WorkerPool',
  plural: 'workerpools',
  shortName: 'wp',
  description: 'Workers that are all alike, as many of them as the work needs.',
  spec: fields(
    {
      engines: list(objectName('An Engine of this namespace.'), {
        set: true,
        minItems: 1,
        maxItems: 16,
        description: 'The engines that the workers run: they do the jobs that ask for one of them.',
      }),
      queues: list(choice(['try-on', 'prepare'], { description: 'A queue.' }), {
        set: true,
        minItems: 1,
        maxItems: 2,
        default: ['try-on', 'prepare'],
        description: 'The queues that the workers take jobs from.',
      }),
      slotsPerReplica: Type.Integer({
        minimum: 1,
        maximum: 64,
        default: 1,
        description: 'Jobs that a worker does at the same time.',
      }),
      replicas: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 1000, description: 'The number of workers, unless scaling.mode is Auto.' }),
      ),
      scaling: ScalingSchema,
      drain: DrainSchema,
      warmup: WarmupSchema,
      accelerator: Type.Optional(AcceleratorSchema),
      capacity: CapacitySchema,
      tiers: Type.Optional(
        list(TierSchema, {
          key: 'name',
          minItems: 1,
          maxItems: 4,
          description:
            'Several kinds of nodes instead of one, in the order in which they are preferred, as spot before on demand.',
        }),
      ),
      template: TemplateSchema,
      paused: Type.Optional(
        fields(
          {
            reason: Type.String({ minLength: 1, maxLength: 256, description: 'Why, for those who wonder.' }),
            until: moment('When it ends by itself.'),
          },
          { description: 'The number of workers stays as it is for a while.' },
        ),
      ),
    },
    {
      description: 'What the pool is.',
      rules: [
        {
          rule: "self.scaling.mode == 'Auto' ? !has(self.replicas) : true",
          message: 'replicas is decided by the controller while scaling.mode is Auto',
          fieldPath: '.replicas',
        },
        {
          rule: '!has(self.tiers) || (self.capacity.hourlyCost == 0.0 && self.capacity.nodeSelector.size() == 0)',
          message: 'set either capacity or tiers',
          fieldPath: '.tiers',
        },
        {
          rule: "self.scaling.mode == 'Fixed' ? has(self.replicas) : true",
          message: 'scaling.mode Fixed needs replicas',
        },
      ],
    },
  ),
  status: PoolStatusSchema,
  rules: [{ rule: 'self.metadata.name.size() <= 52', message: 'the name must not be longer than 52 characters' }],
  columns: COLUMNS,
  scale: { replicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.status.selector' },
})

export type WorkerPool = ObjectOf<typeof workerPools>
