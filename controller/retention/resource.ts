import { Type } from '../../api/shared/contract/schema.ts'
import { AGE_COLUMN, defineResource, type ObjectOf, READY_COLUMN } from '../definitions/custom-resource.ts'
import {
  choice,
  conditions,
  fields,
  list,
  moment,
  nameRule,
  objectName,
  observedGeneration,
  seconds,
} from '../definitions/schema-parts.ts'
import { TIME_ZONE } from '../worker-pool/time-zone.ts'

const TEN_YEARS = 315_360_000
const ID = { minLength: 1, maxLength: 255 }
const IMAGE_KINDS = ['person', 'product', 'result'] as const

const SelectorSchema = fields(
  {
    kinds: list(choice(IMAGE_KINDS, { description: 'Kind of image: person, product or result.' }), {
      set: true,
      minItems: 1,
      maxItems: 3,
      default: ['person', 'result'],
      description:
        'Kinds of images that the policy applies to: person (photos of people), product (product images), result (results of generations). Default person and result.',
    }),
    accounts: list(Type.String({ ...ID, description: 'ID of an account.' }), {
      set: true,
      maxItems: 256,
      default: [],
      description: 'IDs of the accounts that the policy applies to. Default empty: all accounts. Max 256.',
    }),
  },
  { default: {}, description: 'Images that the policy applies to.' },
)

const HoldSchema = fields(
  {
    accountId: Type.String({ ...ID, description: 'ID of the account.' }),
    externalUserId: Type.Optional(
      Type.String({
        ...ID,
        description: 'External user ID of one customer of the account. Not set: all customers of the account.',
      }),
    ),
    reason: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Reason for the legal hold, for auditors. 1 to 256 characters.',
    }),
  },
  {
    description:
      'Legal hold on the images of an account or of one of its customers. Retention runs, sweeps and erasures do not delete the images until the hold is removed.',
  },
)

const StatusSchema = fields(
  {
    observedGeneration: observedGeneration(),
    lifetimes: Type.Optional(
      Type.String({
        maxLength: 128,
        description:
          'Times after which the policy deletes images, as far as the request, the account or the product sets no other: of photos and results since their storage, of product images since the last use of the product. With ttlSeconds, which limits all of them. In days (d), hours (h), minutes (m) or seconds (s).',
      }),
    ),
    lastRunAt: Type.Optional(moment('Start of the last run that found images to delete.')),
    nextRunTime: Type.Optional(moment('Start of the next run. Set only when the policy has a schedule.')),
    lastSweep: Type.Optional(objectName('Name of the Sweep of the last run that found images to delete.')),
    overdue: Type.Optional(
      Type.Integer({ description: 'Number of images past their expiration time after the last run.' }),
    ),
    oldestOverdueSeconds: Type.Optional(
      Type.Integer({
        description: 'Seconds by which the oldest remaining image exceeded its expiration time after the last run.',
      }),
    ),
    conditions: conditions(),
  },
  { description: 'Observed state of the policy.' },
)

export const retentionPolicies = defineResource({
  kind: 'RetentionPolicy',
  plural: 'retentionpolicies',
  shortName: 'drp',
  description:
    'RetentionPolicy deletes images at their expiration time. With ttlSeconds it also sets the max time that images are stored, even if an account is configured to keep its images longer.',
  spec: fields(
    {
      selector: SelectorSchema,
      ttlSeconds: Type.Optional(
        Type.Integer({
          minimum: 60,
          maximum: TEN_YEARS,
          description:
            'Max seconds from the storage of an image to its deletion. Not set: images are deleted at their own expiration time, which the request, the account or the product sets. Range 60 to 315360000 (10 years).',
        }),
      ),
      confirmShrink: Type.Optional(
        Type.Integer({
          description:
            'Confirmation of a reduction of ttlSeconds by more than 90 %, or of a first ttlSeconds below 86400 (1 day). Must equal the new ttlSeconds.',
        }),
      ),
      intervalSeconds: seconds({
        minimum: 10,
        default: 300,
        description:
          'Seconds between the starts of two runs. Ignored when schedule is set. Default 300, range 10 to 86400.',
      }),
      schedule: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          description:
            'Start times of runs as a cron expression: minute, hour, day of the month, month and day of the week, for example 30 2 * * *. If the controller misses start times while it is stopped, it starts one run as soon as it is back.',
        }),
      ),
      timeZone: Type.String({
        ...TIME_ZONE,
        description: 'IANA time zone of schedule, for example Europe/Berlin. Default UTC.',
      }),
      suspend: Type.Boolean({
        default: false,
        description: 'Starts no run while true, and stops one that is running. Legal holds still apply. Default false.',
      }),
      batchSize: Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 500,
        description: 'Number of images that a run deletes per batch. Default 500, range 1 to 1000.',
      }),
      maxDeletesPerRun: Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        default: 100_000,
        description:
          'Max number of images that one run deletes. The next run continues. Default 100000, range 1 to 10000000.',
      }),
      dryRun: Type.Boolean({
        default: true,
        description: 'Reports the images that a run would delete, without deleting them. Default true.',
      }),
      legalHold: list(HoldSchema, {
        maxItems: 256,
        default: [],
        description: 'Legal holds. The holds of all policies apply together. Max 256.',
      }),
    },
    {
      description: 'Desired state of the policy.',
      rules: [
        {
          rule: '!has(self.ttlSeconds) || (has(oldSelf.ttlSeconds) && self.ttlSeconds * 10 >= oldSelf.ttlSeconds) || (has(self.confirmShrink) && self.confirmShrink == self.ttlSeconds) || (!has(oldSelf.ttlSeconds) && self.ttlSeconds >= 86400)',
          message:
            'lowering ttlSeconds by more than 90 %, or setting it below 86400, needs confirmShrink equal to the new value',
          fieldPath: '.ttlSeconds',
        },
      ],
    },
  ),
  status: StatusSchema,
  // The name is a label of the records.
  rules: [
    nameRule({
      rule: 'self.metadata.name.size() <= 63',
      message: 'the name must have at most 63 characters',
    }),
  ],
  columns: [
    {
      name: 'TTL-Seconds',
      type: 'integer',
      path: '.spec.ttlSeconds',
      description: 'Max seconds that an image is stored; empty: until its own expiration time',
      wide: true,
    },
    {
      name: 'Lifetimes',
      type: 'string',
      path: '.status.lifetimes',
      description: 'Times after which images are deleted, ttlSeconds included, with their units',
    },
    { name: 'Dry-Run', type: 'string', path: '.spec.dryRun', description: 'Runs report but do not delete' },
    { name: 'Suspend', type: 'string', path: '.spec.suspend', description: 'Runs are suspended', wide: true },
    {
      name: 'Overdue',
      type: 'integer',
      path: '.status.overdue',
      description: 'Number of images past their expiration time',
    },
    {
      name: 'Oldest-Seconds',
      type: 'integer',
      path: '.status.oldestOverdueSeconds',
      description: 'Seconds by which the oldest image exceeds its expiration time',
    },
    { name: 'Last-Run', type: 'date', path: '.status.lastRunAt', description: 'Start of the last run' },
    {
      name: 'Schedule',
      type: 'string',
      path: '.spec.schedule',
      description: 'Start times of runs, as a cron expression',
      wide: true,
    },
    { name: 'Next-Run', type: 'string', path: '.status.nextRunTime', description: 'Start of the next run', wide: true },
    READY_COLUMN,
    AGE_COLUMN,
  ],
})

export type RetentionPolicy = ObjectOf<typeof retentionPolicies>

export const sweeps = defineResource({
  kind: 'Sweep',
  plural: 'sweeps',
  shortName: 'dsw',
  description:
    'Sweep is the record of one run of a RetentionPolicy. A Sweep that is created with only spec.policy, and optionally spec.dryRun, starts a run; the controller then fills in the result. A Sweep with a result is immutable.',
  spec: fields(
    {
      policy: objectName('Name of the RetentionPolicy.'),
      dryRun: Type.Optional(
        Type.Boolean({
          description:
            'True when the run only reports images and deletes none. A run of a policy whose spec.dryRun is true is always a dry run.',
        }),
      ),
      startedAt: Type.Optional(moment('Start of the run.')),
      durationMs: Type.Optional(Type.Integer({ minimum: 0, description: 'Duration of the run in milliseconds.' })),
      objects: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Number of images that the run deleted or, in a dry run, would have deleted.',
        }),
      ),
      bytes: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Total size of the images in bytes. Excludes the images counted in unsized.',
        }),
      ),
      unsized: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Number of images of unknown size, which were stored before Drape recorded sizes.',
        }),
      ),
      held: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Number of images past their expiration time that a legal hold kept.',
        }),
      ),
      keysDigest: Type.Optional(
        Type.String({
          pattern: '^sha256:[0-9a-f]{64}$',
          maxLength: 71,
          description: 'SHA-256 digest of the storage keys of the images, sorted, one per line.',
        }),
      ),
      error: Type.Optional(Type.String({ maxLength: 1024, description: 'Error that ended the run early.' })),
    },
    {
      description: 'The policy, and the result of its run.',
      rules: [
        {
          rule: 'self == oldSelf || (!has(oldSelf.startedAt) && self.policy == oldSelf.policy)',
          message: 'a Sweep with a result is immutable',
        },
        {
          rule: 'has(self.startedAt) ? has(self.dryRun) && has(self.durationMs) && has(self.objects) && has(self.held) && has(self.keysDigest) : !(has(self.durationMs) || has(self.objects) || has(self.bytes) || has(self.unsized) || has(self.held) || has(self.keysDigest) || has(self.error))',
          message: 'to start a run set only policy and dryRun; the controller adds the result',
        },
      ],
    },
  ),
  status: fields(
    {
      observedGeneration: observedGeneration(),
      conditions: conditions(),
    },
    { description: 'State of a run that was started by creating the Sweep.' },
  ),
  columns: [
    { name: 'Policy', type: 'string', path: '.spec.policy', description: 'Name of the RetentionPolicy' },
    { name: 'Dry-Run', type: 'string', path: '.spec.dryRun', description: 'The run deleted no images' },
    { name: 'Objects', type: 'integer', path: '.spec.objects', description: 'Number of images deleted' },
    { name: 'Bytes', type: 'integer', path: '.spec.bytes', description: 'Total size of the images in bytes' },
    { name: 'Held', type: 'integer', path: '.spec.held', description: 'Number of images kept by a legal hold' },
    { name: 'Started', type: 'date', path: '.spec.startedAt', description: 'Time since the start of the run' },
    {
      name: 'Reason',
      type: 'string',
      path: '.status.conditions[?(@.type=="Complete")].reason',
      description: 'Reason of the condition Complete of a Sweep that was created to start a run',
    },
  ],
})

export type Sweep = ObjectOf<typeof sweeps>
/** The spec of a Sweep with a result. */
export type SweepRecord = Sweep['spec'] &
  Required<Pick<Sweep['spec'], 'dryRun' | 'startedAt' | 'durationMs' | 'objects' | 'held' | 'keysDigest'>>
