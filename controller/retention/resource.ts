import { Type } from '../../api/shared/schema.ts'
import { defineResource, type ObjectOf } from '../custom-resource.ts'
import { choice, conditions, fields, list, moment, objectName, seconds } from '../schema-parts.ts'
import { TIME_ZONE } from '../time-zone.ts'

const TEN_YEARS = 315_360_000
const ID = { minLength: 1, maxLength: 255 }
export const IMAGE_KINDS = ['person', 'product', 'result'] as const

const SelectorSchema = fields(
  {
    kinds: list(choice(IMAGE_KINDS, { description: 'What an image is.' }), {
      set: true,
      minItems: 1,
      maxItems: 3,
      default: ['person', 'result'],
      description: 'Which images: photos of persons, pictures of products, results.',
    }),
    accounts: list(Type.String({ ...ID, description: 'The id of an account.' }), {
      set: true,
      maxItems: 256,
      default: [],
      description: 'Of these accounts only; of all when empty.',
    }),
  },
  { default: {}, description: 'Which images the policy is about.' },
)

const HoldSchema = fields(
  {
    accountId: Type.String({ ...ID, description: 'The account.' }),
    externalUserId: Type.Optional(
      Type.String({ ...ID, description: 'One customer of the account; all when missing.' }),
    ),
    reason: Type.String({ minLength: 1, maxLength: 256, description: 'Why, for auditors.' }),
  },
  { description: 'Images that no run of this policy deletes.' },
)

const StatusSchema = fields(
  {
    observedGeneration: Type.Optional(Type.Integer({ description: 'The edition that was looked at last.' })),
    lastRunAt: Type.Optional(moment('When the last run that found something started.')),
    nextRunTime: Type.Optional(moment('When the next run starts, where there is a schedule.')),
    lastSweep: Type.Optional(objectName('The record of the last run that found something.')),
    overdue: Type.Optional(Type.Integer({ description: 'Images past their time after the last run.' })),
    oldestOverdueSeconds: Type.Optional(
      Type.Integer({
        description: 'How long the oldest image that is still there was past its time after the last run.',
      }),
    ),
    conditions: conditions(),
  },
  { description: 'What the controller found.' },
)

export const retentionPolicies = defineResource({
  kind: 'RetentionPolicy',
  plural: 'retentionpolicies',
  shortName: 'drp',
  description: 'How long images live at most, whatever accounts ask for.',
  spec: fields(
    {
      selector: SelectorSchema,
      ttlSeconds: Type.Integer({
        minimum: 60,
        maximum: TEN_YEARS,
        description: 'How long after it was stored an image may live.',
      }),
      confirmShrink: Type.Optional(
        Type.Integer({ description: 'The new ttlSeconds once more, when it is less than a tenth of what it was.' }),
      ),
      intervalSeconds: seconds({
        minimum: 10,
        default: 300,
        description: 'The time between the starts of two runs, where there is no schedule.',
      }),
      schedule: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          description:
            'When runs start, as a cron expression: minute, hour, day of the month, month and day of the week, as in 30 2 * * *. One that falls into an absence of the controller is made up for once.',
        }),
      ),
      timeZone: Type.String({ ...TIME_ZONE, description: 'The IANA time zone of the schedule, as in Europe/Berlin.' }),
      batchSize: Type.Integer({ minimum: 1, maximum: 1000, default: 500, description: 'Images deleted together.' }),
      maxDeletesPerRun: Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        default: 100_000,
        description: 'A run ends after so many images; the next one goes on.',
      }),
      dryRun: Type.Boolean({ default: true, description: 'Only tells what would be deleted.' }),
      legalHold: list(HoldSchema, { maxItems: 256, default: [], description: 'What has to be kept all the same.' }),
    },
    {
      description: 'What is deleted when.',
      rules: [
        {
          rule: 'self.ttlSeconds * 10 >= oldSelf.ttlSeconds || (has(self.confirmShrink) && self.confirmShrink == self.ttlSeconds)',
          message: 'lowering ttlSeconds by more than 90 % needs confirmShrink equal to the new value',
          fieldPath: '.ttlSeconds',
        },
      ],
    },
  ),
  status: StatusSchema,
  // It is a label of the records of its runs.
  rules: [{ rule: 'self.metadata.name.size() <= 63', message: 'the name must not be longer than 63 characters' }],
  columns: [
    { name: 'TTL', type: 'integer', path: '.spec.ttlSeconds', description: 'Seconds that an image lives' },
    { name: 'Dry-Run', type: 'string', path: '.spec.dryRun', description: 'Only tells' },
    { name: 'Overdue', type: 'integer', path: '.status.overdue', description: 'Images past their time' },
    {
      name: 'Oldest',
      type: 'integer',
      path: '.status.oldestOverdueSeconds',
      description: 'Seconds the oldest is past it',
    },
    { name: 'Last-Run', type: 'date', path: '.status.lastRunAt', description: 'Start of the last run' },
    {
      name: 'Schedule',
      type: 'string',
      path: '.spec.schedule',
      description: 'When runs start',
      wide: true,
    },
    { name: 'Next-Run', type: 'string', path: '.status.nextRunTime', description: 'Start of the next run', wide: true },
    {
      name: 'Ready',
      type: 'string',
      path: '.status.conditions[?(@.type=="Ready")].status',
      description: 'Runs as planned',
    },
    { name: 'Age', type: 'date', path: '.metadata.creationTimestamp', description: 'Since it was made' },
  ],
})

export type RetentionPolicy = ObjectOf<typeof retentionPolicies>

export const sweeps = defineResource({
  kind: 'Sweep',
  plural: 'sweeps',
  shortName: 'dsw',
  description: 'The record of one run of a retention policy. It cannot be changed.',
  spec: fields(
    {
      policy: objectName('The policy.'),
      dryRun: Type.Boolean({ description: 'Nothing was deleted.' }),
      startedAt: moment('When the run started.'),
      durationMs: Type.Integer({ minimum: 0, description: 'How long it took.' }),
      objects: Type.Integer({ minimum: 0, description: 'Images deleted, or that would have been.' }),
      bytes: Type.Optional(
        Type.Integer({ minimum: 0, description: 'How large these images were together, as far as that is known.' }),
      ),
      unsized: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'How many of these images count nothing in bytes, because they were stored before sizes were.',
        }),
      ),
      held: Type.Integer({ minimum: 0, description: 'Images past their time that a legal hold kept.' }),
      keysDigest: Type.String({
        pattern: '^sha256:[0-9a-f]{64}$',
        maxLength: 71,
        description: 'SHA-256 of the keys of these images, sorted, one a line.',
      }),
      error: Type.Optional(Type.String({ maxLength: 1024, description: 'Why the run ended early.' })),
    },
    { description: 'What the run did.', rules: [{ rule: 'self == oldSelf', message: 'a record cannot be changed' }] },
  ),
  columns: [
    { name: 'Policy', type: 'string', path: '.spec.policy', description: 'Of which policy' },
    { name: 'Dry-Run', type: 'string', path: '.spec.dryRun', description: 'Nothing was deleted' },
    { name: 'Objects', type: 'integer', path: '.spec.objects', description: 'Images deleted' },
    { name: 'Bytes', type: 'integer', path: '.spec.bytes', description: 'Their size' },
    { name: 'Held', type: 'integer', path: '.spec.held', description: 'Images kept by a legal hold' },
    { name: 'Started', type: 'date', path: '.spec.startedAt', description: 'When it started' },
  ],
})

export type Sweep = ObjectOf<typeof sweeps>
