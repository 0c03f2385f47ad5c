import { Type } from '../../api/shared/contract/schema.ts'
import { AGE_COLUMN, type Column, defineResource, type ObjectOf, READY_COLUMN } from '../definitions/custom-resource.ts'
import { choice, fields, list, moment, nameRule, objectName, portion, seconds } from '../definitions/schema-parts.ts'
import { ScalingPolicySpecSchema } from '../scaling-policy/resource.ts'
import { PoolStatusSchema } from './status/status-schema.ts'
import {
  AcceleratorSchema,
  CAPACITY_FIELDS,
  DrainSchema,
  PodTemplateSchema,
  TemplateSchema,
  TierSchema,
} from './template/template-schema.ts'

const ScalingSchema = fields(
  {
    mode: choice(['Auto', 'Fixed', 'External'], {
      default: 'Auto',
      description:
        'Source of the number of workers. Auto: the controller computes the number from the demand. Fixed: spec.replicas. External: spec.replicas, set through the scale subresource by an autoscaler such as the HorizontalPodAutoscaler. Default Auto.',
    }),
    policy: Type.Optional(ScalingPolicySpecSchema),
    policyRef: Type.Optional(
      fields(
        { name: objectName('Name of a ScalingPolicy in the namespace of the pool.') },
        {
          description:
            'Reference to a ScalingPolicy that several pools can share. In mode Auto, set either policy or policyRef.',
        },
      ),
    ),
  },
  {
    description: 'Scaling of the pool: the source of the number of workers and the rules for mode Auto.',
    rules: [
      {
        rule: "self.mode == 'Auto' ? has(self.policy) != has(self.policyRef) : !has(self.policy) && !has(self.policyRef)",
        message: 'set either policy or policyRef in mode Auto, and neither in other modes',
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
      description:
        'Max seconds from the start of a worker until the worker is ready for jobs. Kubernetes restarts a worker that exceeds the time. Default 300, range 1 to 3600.',
    }),
  },
  { default: {}, description: 'Start-up of a worker, until the worker is ready for jobs.' },
)

const SickNodesSchema = fields(
  {
    maxWorkers: Type.Integer({
      minimum: 1,
      maximum: 20,
      default: 2,
      description:
        'Number of workers that must become sick on a node within windowSeconds until the controller avoids the node: until then a replacement may get the failing accelerator again. Default 2, range 1 to 20.',
    }),
    windowSeconds: seconds({
      minimum: 60,
      maximum: 86_400,
      default: 3600,
      description: 'Period in which sick workers of a node are counted. Default 3600, range 60 to 86400.',
    }),
    avoidSeconds: seconds({
      minimum: 60,
      maximum: 86_400,
      default: 3600,
      description:
        'Seconds that the controller avoids the node after the last of the sick workers. Default 3600, range 60 to 86400.',
    }),
  },
  {
    default: {},
    description:
      'Nodes whose accelerators keep failing. The controller replaces a worker that fenced itself. On a node with maxWorkers such workers, the last one stays for avoidSeconds, fenced and in addition to the desired workers as far as hard cost caps allow, so that no new worker gets its accelerator, and new workers go to other nodes while the pool has a worker on another node.',
  },
)

const RolloutSchema = fields(
  {
    maxSurge: portion({
      default: '25%',
      description:
        'Max number of additional workers during a rollout, or a percentage of the desired workers, rounded up. Never exceeds the upper bound of the pool or a hard cost cap. Default 25%, range 0 to 1000 or 0% to 100%.',
    }),
    maxUnavailable: portion({
      default: 0,
      description:
        'Max number of workers that may be missing during a rollout, or a percentage of the desired workers, rounded down. Where no additional worker is allowed, at least 1. Default 0, range 0 to 1000 or 0% to 100%.',
    }),
  },
  {
    default: {},
    description:
      'Replacement of the workers after a change of the pod template, for example of the image. The controller replaces a worker after it has finished its jobs.',
  },
)

const CapacitySchema = fields(CAPACITY_FIELDS, {
  default: {},
  description: 'Nodes that the workers run on. Set either capacity or tiers.',
})

const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`

const COLUMNS: readonly Column[] = [
  {
    name: 'Mode',
    type: 'string',
    path: '.spec.scaling.mode',
    description: 'Source of the number of workers: Auto, Fixed or External',
  },
  { name: 'Min', type: 'integer', path: '.status.min', description: 'Min number of workers at this time' },
  { name: 'Max', type: 'integer', path: '.status.max', description: 'Max number of workers at this time' },
  { name: 'Desired', type: 'integer', path: '.status.desiredReplicas', description: 'Desired number of workers' },
  { name: 'Up', type: 'integer', path: '.status.readyReplicas', description: 'Workers that are ready for jobs' },
  { name: 'Busy', type: 'integer', path: '.status.busyReplicas', description: 'Workers that run at least 1 job' },
  { name: 'Waiting', type: 'integer', path: '.status.demand.waiting', description: 'Waiting jobs' },
  {
    name: 'Oldest-Seconds',
    type: 'integer',
    path: '.status.demand.oldestWaitSeconds',
    description: 'Age of the oldest waiting job, in seconds',
  },
  {
    name: 'Limited-By',
    type: 'string',
    path: '.status.limitedBy',
    description: 'Rules that limit the number of workers',
  },
  READY_COLUMN,
  {
    name: 'Problems',
    type: 'string',
    path: '.status.conditions[?(@.type=="Problems")].reason',
    description: 'Conditions that need attention; their messages are in the condition Problems',
  },
  AGE_COLUMN,
  {
    name: 'Paused',
    type: 'string',
    path: condition('Paused'),
    description: 'Status of the Paused condition',
    wide: true,
  },
  {
    name: 'Updated',
    type: 'integer',
    path: '.status.updatedReplicas',
    description: 'Existing workers with the current pod template',
    wide: true,
  },
  {
    name: 'Hourly-Cost',
    type: 'number',
    path: '.status.hourlyCost',
    description: 'Cost of the current workers per hour',
    wide: true,
  },
]

export const workerPools = defineResource({
  kind: 'WorkerPool',
  plural: 'workerpools',
  shortName: 'wp',
  description: 'WorkerPool is a group of identical workers that the controller scales to the demand.',
  spec: fields(
    {
      engines: list(objectName('Name of an Engine in the namespace of the pool.'), {
        set: true,
        minItems: 1,
        maxItems: 16,
        description:
          'Engines that each worker runs. The workers take only the jobs that name one of the engines. 1 to 16 names.',
      }),
      queues: list(choice(['try-on', 'prepare'], { description: 'Name of a queue.' }), {
        set: true,
        minItems: 1,
        maxItems: 2,
        default: ['try-on', 'prepare'],
        description:
          'Queues that the workers take jobs from: try-on (generations), prepare (preparation of uploaded photos). Default both.',
      }),
      slotsPerReplica: Type.Integer({
        minimum: 1,
        maximum: 64,
        default: 1,
        description: 'Max number of jobs that a worker runs at the same time. Default 1, range 1 to 64.',
      }),
      priority: Type.Integer({
        minimum: -1000,
        maximum: 1000,
        default: 0,
        description:
          'Place among pools that share an engine or queue. The controller assigns each waiting job to one pool: to the pool with the highest priority, then to the pool with the lowest hourly cost per slot, until that pool is at its upper bound. Default 0, range -1000 to 1000.',
      }),
      replicas: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          description:
            'Desired number of workers in the scaling modes Fixed and External. Must not be set in mode Auto. Range 0 to 1000.',
        }),
      ),
      scaling: ScalingSchema,
      drain: DrainSchema,
      sickNodes: SickNodesSchema,
      warmup: WarmupSchema,
      rollout: RolloutSchema,
      accelerator: Type.Optional(AcceleratorSchema),
      capacity: CapacitySchema,
      tiers: Type.Optional(
        list(TierSchema, {
          key: 'name',
          minItems: 1,
          maxItems: 4,
          description:
            'Several kinds of nodes in order of preference, for example spot before on-demand. Replaces capacity. 1 to 4 tiers.',
        }),
      ),
      template: TemplateSchema,
      podTemplate: Type.Optional(PodTemplateSchema),
      paused: Type.Optional(
        fields(
          {
            reason: Type.String({
              minLength: 1,
              maxLength: 256,
              description: 'Human-readable reason for the pause. 1 to 256 characters.',
            }),
            until: moment('End of the pause. The controller resumes scaling at this time.'),
          },
          {
            description:
              'Pause of scaling. The controller adds and removes no worker until the pause ends or is removed, and a drain under way stops: workers that drain finish their jobs, take no others and stay, with their marks.',
          },
        ),
      ),
    },
    {
      description: 'Desired state of the pool.',
      rules: [
        {
          rule: "self.scaling.mode == 'Auto' ? !has(self.replicas) : true",
          message: 'replicas must not be set in scaling.mode Auto',
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
  rules: [
    nameRule({
      rule: 'self.metadata.name.size() <= 52',
      message: 'the name must have at most 52 characters',
    }),
  ],
  columns: COLUMNS,
  scale: { replicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.status.selector' },
})

export type WorkerPool = ObjectOf<typeof workerPools>
