import { type Static, Type } from '../../api/shared/schema.ts'
import { choice, fields, list, objectName, quantities, seconds, texts } from '../schema-parts.ts'

const VariableSchema = fields(
  {
    name: Type.String({ minLength: 1, maxLength: 128, description: 'Its name.' }),
    value: Type.Optional(Type.String({ maxLength: 4096, description: 'Its value.' })),
    secret: Type.Optional(
      fields(
        {
          name: objectName('The Secret.'),
          key: Type.String({ minLength: 1, maxLength: 253, description: 'The key in it.' }),
        },
        { description: 'Where its value is.' },
      ),
    ),
  },
  {
    description: 'A variable of the environment.',
    rules: [{ rule: 'has(self.value) != has(self.secret)', message: 'set either value or secret' }],
  },
)

const TolerationSchema = fields(
  {
    key: Type.Optional(Type.String({ maxLength: 253, description: 'The key of the taint.' })),
    operator: Type.Optional(choice(['Exists', 'Equal'], { description: 'How the value is compared.' })),
    value: Type.Optional(Type.String({ maxLength: 63, description: 'The value of the taint.' })),
    effect: Type.Optional(
      choice(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'The effect of the taint.' }),
    ),
  },
  { description: 'A taint of nodes that workers put up with.' },
)

const VolumeSchema = fields(
  {
    name: Type.String({
      maxLength: 63,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      description: 'Its name; no other volume of the pod has it.',
    }),
    mountPath: Type.String({ minLength: 1, maxLength: 512, pattern: '^/', description: 'Where workers see it.' }),
    readOnly: Type.Boolean({ default: false, description: 'Whether workers can only read it.' }),
    claim: Type.Optional(objectName('A PersistentVolumeClaim of this namespace.')),
    secret: Type.Optional(objectName('A Secret of this namespace; each key is a file.')),
    configMap: Type.Optional(objectName('A ConfigMap of this namespace; each key is a file.')),
    memoryBytes: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Empty and in memory, at most this large, as for /dev/shm.' }),
    ),
  },
  {
    description: 'A folder beside those that every worker has.',
    rules: [
      {
        rule: '[has(self.claim), has(self.secret), has(self.configMap), has(self.memoryBytes)].filter(set, set).size() == 1',
        message: 'set exactly one of claim, secret, configMap and memoryBytes',
      },
    ],
  },
)

export const AcceleratorSchema = fields(
  {
    resource: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'The name under which nodes offer it, as in nvidia.com/gpu.',
    }),
    count: Type.Integer({ minimum: 1, maximum: 64, default: 1, description: 'So many for each worker.' }),
    runtimeClassName: Type.Optional(objectName('The runtime class that it needs.')),
  },
  { description: 'The accelerator of each worker.' },
)

/** What a node costs and by which labels it is known. */
export const CAPACITY_FIELDS = {
  type: choice(['on-demand', 'spot'], {
    default: 'on-demand',
    description: 'What kind of nodes the workers run on.',
  }),
  hourlyCost: Type.Number({
    minimum: 0,
    maximum: 100_000,
    default: 0,
    description: 'What one worker costs an hour, in any unit; 0 when it is not known.',
  }),
  nodeSelector: texts({ default: {}, description: 'Labels that such nodes have.' }),
}

export const TierSchema = fields(
  {
    name: Type.String({ minLength: 1, maxLength: 63, description: 'Shown in the status.' }),
    ...CAPACITY_FIELDS,
    tolerations: list(TolerationSchema, { maxItems: 16, default: [], description: 'Taints that such nodes have.' }),
  },
  { description: 'A kind of nodes.' },
)

export type Tier = Static<typeof TierSchema>

export const DrainSchema = fields(
  {
    timeoutSeconds: seconds({
      minimum: 1,
      maximum: 3600,
      default: 120,
      description: 'A job in hand has so long to end when its worker is told to stop.',
    }),
    acknowledgeSeconds: seconds({
      minimum: 1,
      maximum: 600,
      default: 15,
      description: 'A worker that did not say within this time that it takes no more jobs is left alone.',
    }),
    removeBusy: Type.Boolean({
      default: false,
      description: 'Whether busy workers may be chosen too; they finish what they have first.',
    }),
  },
  {
    default: {},
    description: 'How workers are removed.',
    rules: [
      {
        rule: 'self.acknowledgeSeconds <= self.timeoutSeconds',
        message: 'acknowledgeSeconds must not be above timeoutSeconds',
      },
    ],
  },
)

export const TemplateSchema = fields(
  {
    image: Type.String({ minLength: 1, maxLength: 512, description: 'The image of the worker.' }),
    imagePullPolicy: choice(['Always', 'IfNotPresent', 'Never'], {
      default: 'IfNotPresent',
      description: 'When the image is fetched.',
    }),
    imagePullSecrets: list(objectName('A Secret of this namespace.'), {
      set: true,
      maxItems: 16,
      default: [],
      description: 'What it takes to fetch the image.',
    }),
    env: list(VariableSchema, {
      key: 'name',
      maxItems: 128,
      default: [],
      description: 'Variables of the environment.',
    }),
    envFrom: list(objectName('A Secret of this namespace.'), {
      set: true,
      maxItems: 16,
      default: [],
      description: 'Secrets of which each key is a variable.',
    }),
    requests: quantities({ description: 'What each worker is given at least.' }),
    limits: Type.Optional(quantities({ description: 'What each worker is given at most.' })),
    labels: texts({ default: {}, description: 'More labels of the pods.' }),
    annotations: texts({ default: {}, description: 'More annotations of the pods.' }),
    nodeSelector: texts({ default: {}, description: 'Labels that nodes must have.' }),
    tolerations: list(TolerationSchema, { maxItems: 32, default: [], description: 'Taints of nodes to put up with.' }),
    nextTo: texts({
      default: {},
      description:
        'Labels of pods of this namespace: workers run on nodes where one is, as volumes need that one node mounts.',
    }),
    priorityClassName: Type.Optional(objectName('The priority class of the pods.')),
    serviceAccountName: Type.Optional(
      objectName('The service account of the pods, for what clouds tie to it; workers get no token of it.'),
    ),
    volumes: list(VolumeSchema, { key: 'name', maxItems: 32, default: [], description: 'More folders.' }),
    temporaryBytes: Type.Integer({
      minimum: 1_048_576,
      default: 1_073_741_824,
      description: 'Room for temporary files; the rest of the file system cannot be written.',
    }),
  },
  { description: 'What each worker is.' },
)

export type Template = Static<typeof TemplateSchema>
export type Volume = Static<typeof VolumeSchema>
export type Toleration = Static<typeof TolerationSchema>
