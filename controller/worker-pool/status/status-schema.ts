import { type Static, Type } from '../../../api/shared/contract/schema.ts'
import { choice, conditions, fields, list, moment, observedGeneration } from '../../definitions/schema-parts.ts'

export const MAX_DECISIONS = 20
export const MAX_WORKERS = 200
export const MAX_SICK_WORKERS = 20
export const MAX_FAILING = 10
export const MAX_REASON_LENGTH = 256
export const MAX_KIND_LENGTH = 64
export const MAX_LIMITS_LENGTH = 1024

const count = (description: string) => Type.Integer({ minimum: 0, description })

const DecisionSchema = fields(
  {
    at: moment('Time of the decision.'),
    from: count('Number of workers before the decision.'),
    to: count('Number of workers after the decision.'),
    direction: choice(['Up', 'Down', 'None'], {
      description:
        'Direction of the change. Up: workers are added. Down: workers are removed. None: the number stays the same.',
    }),
    reason: Type.String({ maxLength: MAX_REASON_LENGTH, description: 'Human-readable reason for the decision.' }),
    limitedBy: list(Type.String({ maxLength: 128, description: 'Name of a rule, for example bounds.max.' }), {
      maxItems: 16,
      description: 'Rules that kept the number of workers from the number that the demand requires.',
    }),
  },
  { description: 'Decision on the number of workers.' },
)

const WorkerSchema = fields(
  {
    name: Type.String({ maxLength: 253, description: 'Name of the pod.' }),
    state: choice(['Starting', 'Idle', 'Busy', 'Draining', 'Drained', 'Silent', 'Sick'], {
      description:
        'State of the worker. Starting: not ready yet. Idle: ready, without a job. Busy: runs at least 1 job. Draining: takes no new jobs. Drained: takes no new jobs and runs none, or is being deleted. Silent: was ready before, but sends no heartbeat. Sick: takes no jobs because its accelerator keeps failing.',
    }),
    jobs: count('Number of jobs that the worker runs.'),
  },
  { description: 'Worker of the pool.' },
)

const nodeName = (description: string) => Type.String({ maxLength: 253, description })

const SickWorkerSchema = fields(
  {
    name: Type.String({ maxLength: 253, description: 'Name of the pod.' }),
    node: Type.Optional(nodeName('Name of the node of the pod.')),
    reason: Type.String({
      maxLength: MAX_KIND_LENGTH,
      description: 'Kind of the last failure: DeviceError, OutOfMemory, SelfTestDrift or Hang.',
    }),
    message: Type.String({ maxLength: MAX_REASON_LENGTH, description: 'Human-readable message of the last failure.' }),
    at: moment('Time when the worker fenced itself.'),
  },
  { description: 'Worker that fenced itself because its accelerator kept failing.' },
)

const AvoidedNodeSchema = fields(
  {
    name: nodeName('Name of the node.'),
    workers: count('Number of sick workers on the node within spec.sickNodes.windowSeconds.'),
    until: moment('Time when the controller stops avoiding the node, unless another worker on the node becomes sick.'),
  },
  { description: 'Node whose accelerators new workers do not get.' },
)

const FailingWorkersSchema = fields(
  {
    reason: Type.String({
      maxLength: MAX_KIND_LENGTH,
      description:
        'Reason as Kubernetes reports it, for example ImagePullBackOff, CrashLoopBackOff, OOMKilled or UnexpectedAdmissionError.',
    }),
    workers: count('Number of workers that do not start, or of pods that the node rejected.'),
    node: Type.Optional(nodeName('Name of the node that rejected the pods. Absent for other reasons.')),
    message: Type.String({ maxLength: MAX_REASON_LENGTH, description: 'Human-readable message of one of them.' }),
  },
  { description: 'Workers that do not start for the same reason.' },
)

const StartSchema = fields(
  {
    name: Type.String({ maxLength: 253, description: 'Name of the pod.' }),
    at: moment('Time when the worker became ready.'),
    schedulingSeconds: count('Seconds from the creation of the pod until the pod had a node.'),
    initializationSeconds: count(
      'Seconds until the init containers, which bring and check the model files, had ended.',
    ),
    imageSeconds: count('Seconds until the image was pulled and the container ran.'),
    warmupSeconds: count('Seconds until the models were loaded and the worker was ready for jobs.'),
    downloadSeconds: Type.Optional(
      count(
        'Seconds that the longest download of model files from a URL took. Overlaps with the other phases. Set only for pools with such an engine.',
      ),
    ),
  },
  { description: 'Start of a worker, split into its phases.' },
)

export const PoolStatusSchema = fields(
  {
    observedGeneration: observedGeneration(),
    selector: Type.Optional(
      Type.String({ maxLength: 512, description: 'Label selector of the pods, for the scale subresource.' }),
    ),
    min: Type.Optional(count('Min number of workers at this time, after schedules and the cost cap.')),
    max: Type.Optional(count('Max number of workers at this time, after schedules and the cost cap.')),
    replicas: Type.Optional(count('Number of existing workers.')),
    desiredReplicas: Type.Optional(count('Desired number of workers.')),
    readyReplicas: Type.Optional(count('Number of workers that are ready for jobs.')),
    updatedReplicas: Type.Optional(count('Number of existing workers with the current pod template.')),
    busyReplicas: Type.Optional(count('Number of workers that run at least 1 job. Absent while Redis is unavailable.')),
    drainingReplicas: Type.Optional(
      count('Number of workers that take no new jobs before their removal. Absent while Redis is unavailable.'),
    ),
    unschedulableReplicas: Type.Optional(
      count(
        'Number of workers that have no node or cannot be created. The conditions WorkersScheduled and WorkersCreated give the reasons.',
      ),
    ),
    gatedReplicas: Type.Optional(
      count(
        'Number of workers that Kueue holds back with a scheduling gate until their queue has quota. They are not part of unschedulableReplicas.',
      ),
    ),
    demand: Type.Optional(
      fields(
        {
          waiting: count('Number of waiting jobs.'),
          inFlight: count('Number of running jobs.'),
          oldestWaitSeconds: count('Age of the oldest waiting job, in seconds. Rounded down to a multiple of 5.'),
        },
        { description: 'Demand for the engines of the pool when the controller last read the queue.' },
      ),
    ),
    hourlyCost: Type.Optional(
      Type.Number({
        description:
          'Cost of the workers on nodes per hour, in the unit of hourlyCost. A worker whose node matches no tier counts with the highest hourlyCost of the tiers.',
      }),
    ),
    tiers: Type.Optional(
      list(
        fields(
          {
            name: Type.String({ maxLength: 63, description: 'Name of the tier.' }),
            replicas: count('Number of workers on the nodes of the tier.'),
          },
          { description: 'Number of workers of one tier.' },
        ),
        { maxItems: 4, description: 'Number of workers per tier, for a pool with tiers.' },
      ),
    ),
    limitedBy: Type.Optional(
      Type.String({
        maxLength: MAX_LIMITS_LENGTH,
        description:
          'Rules that limit the number of workers at this time, separated by commas. Empty when no rule applies.',
      }),
    ),
    lastDecision: Type.Optional(DecisionSchema),
    decisions: list(DecisionSchema, {
      maxItems: MAX_DECISIONS,
      default: [],
      description: 'Last 20 decisions that changed the number of workers or that a rule limited, newest first.',
    }),
    workers: list(WorkerSchema, {
      maxItems: MAX_WORKERS,
      default: [],
      description: 'Existing workers, sorted by name. Max 200.',
    }),
    lastStart: Type.Optional(StartSchema),
    failingWorkers: Type.Optional(
      list(FailingWorkersSchema, {
        maxItems: MAX_FAILING,
        description: 'Workers that do not start, by reason, and pods that nodes rejected. Max 10.',
      }),
    ),
    sickWorkers: list(SickWorkerSchema, {
      maxItems: MAX_SICK_WORKERS,
      default: [],
      description: 'Workers that fenced themselves within the periods of spec.sickNodes, newest first. Max 20.',
    }),
    avoidedNodes: list(AvoidedNodeSchema, {
      maxItems: MAX_SICK_WORKERS,
      default: [],
      description: 'Nodes with too many sick workers. Max 20.',
    }),
    conditions: conditions(),
  },
  { description: 'Observed state of the pool.' },
)

export type SickWorker = Static<typeof SickWorkerSchema>
export type FailingWorkers = Static<typeof FailingWorkersSchema>
export type WorkerStart = Static<typeof StartSchema>
export type AvoidedNode = Static<typeof AvoidedNodeSchema>
export type PoolStatus = Static<typeof PoolStatusSchema>
export type PastDecision = Static<typeof DecisionSchema>
export type WorkerStatus = Static<typeof WorkerSchema>
