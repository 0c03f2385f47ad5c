import { type Static, Type } from '../../../api/shared/contract/schema.ts'
import { choice, fields, list, objectName, quantities, seconds, texts } from '../../definitions/schema-parts.ts'

const VariableSchema = fields(
  {
    name: Type.String({ minLength: 1, maxLength: 128, description: 'Name of the environment variable.' }),
    value: Type.Optional(
      Type.String({ maxLength: 4096, description: 'Value of the environment variable. Set either value or secret.' }),
    ),
    secret: Type.Optional(
      fields(
        {
          name: objectName('Name of a Secret in the namespace of the pool.'),
          key: Type.String({ minLength: 1, maxLength: 253, description: 'Key in the Secret.' }),
        },
        { description: 'Reference to the key of a Secret that holds the value.' },
      ),
    ),
  },
  {
    description: 'Environment variable of the worker.',
    rules: [{ rule: 'has(self.value) != has(self.secret)', message: 'set either value or secret' }],
  },
)

const TolerationSchema = fields(
  {
    key: Type.Optional(
      Type.String({ maxLength: 253, description: 'Key of the taint. Matches every key when not set.' }),
    ),
    operator: Type.Optional(
      choice(['Exists', 'Equal'], {
        description:
          'Comparison of the taint with the value. Exists: the key is enough. Equal: the value must be equal.',
      }),
    ),
    value: Type.Optional(Type.String({ maxLength: 63, description: 'Value of the taint.' })),
    effect: Type.Optional(
      choice(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {
        description: 'Effect of the taint. Matches every effect when not set.',
      }),
    ),
  },
  { description: 'Toleration of a node taint, as in the spec of a Pod.' },
)

const VolumeSchema = fields(
  {
    name: Type.String({
      maxLength: 63,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      description: 'Name of the volume. Must be unique in the pod.',
    }),
    mountPath: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: '^/',
      description: 'Absolute path of the volume in the worker container.',
    }),
    readOnly: Type.Boolean({ default: false, description: 'Mounts the volume read-only when true. Default false.' }),
    claim: Type.Optional(objectName('Name of a PersistentVolumeClaim in the namespace of the pool.')),
    secret: Type.Optional(objectName('Name of a Secret in the namespace of the pool. Each key becomes a file.')),
    configMap: Type.Optional(objectName('Name of a ConfigMap in the namespace of the pool. Each key becomes a file.')),
    memoryBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Size limit in bytes of an empty volume in memory, for example for /dev/shm. Minimum 1.',
      }),
    ),
  },
  {
    description: 'Additional volume of the worker. Set exactly one of claim, secret, configMap and memoryBytes.',
    rules: [
      {
        rule: '[has(self.claim), has(self.secret), has(self.configMap), has(self.memoryBytes)].filter(set, set).size() == 1',
        message: 'set exactly one of claim, secret, configMap and memoryBytes',
      },
    ],
  },
)

const ClaimSchema = fields(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      description: 'Name of the claim within the pod, for example gpu. 1 to 63 characters.',
    }),
    resourceClaimTemplateName: Type.Optional(
      objectName('Name of a ResourceClaimTemplate in the namespace of the pool. Each worker gets a claim of its own.'),
    ),
    resourceClaimName: Type.Optional(
      objectName('Name of a ResourceClaim in the namespace of the pool. All workers share the claim.'),
    ),
  },
  {
    description: 'Claim of devices. Set either resourceClaimTemplateName or resourceClaimName.',
    rules: [
      {
        rule: 'has(self.resourceClaimTemplateName) != has(self.resourceClaimName)',
        message: 'set exactly one of resourceClaimTemplateName and resourceClaimName',
      },
    ],
  },
)

export const AcceleratorSchema = fields(
  {
    resource: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description:
          'Name of the extended resource of the nodes, for example nvidia.com/gpu. Set either resource or resourceClaims.',
      }),
    ),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        description: 'Number of accelerators per worker, for resource. Default 1, range 1 to 64.',
      }),
    ),
    resourceClaims: Type.Optional(
      list(ClaimSchema, {
        key: 'name',
        minItems: 1,
        maxItems: 8,
        description:
          'Devices of each worker through dynamic resource allocation (Kubernetes 1.34 or newer), for example a GPU or a MIG profile. 1 to 8 claims.',
      }),
    ),
    runtimeClassName: Type.Optional(objectName('Name of the RuntimeClass of the worker pods.')),
  },
  {
    description: 'Accelerator of each worker: an extended resource or resource claims.',
    rules: [
      {
        rule: 'has(self.resource) != has(self.resourceClaims)',
        message: 'set exactly one of resource and resourceClaims',
      },
      { rule: '!has(self.count) || has(self.resource)', message: 'count needs resource', fieldPath: '.count' },
    ],
  },
)

/** Cost and labels of nodes. */
export const CAPACITY_FIELDS = {
  type: choice(['on-demand', 'spot'], {
    default: 'on-demand',
    description: 'Purchase type of the nodes: on-demand or spot. Default on-demand.',
  }),
  hourlyCost: Type.Number({
    minimum: 0,
    maximum: 100_000,
    default: 0,
    description:
      'Cost of one worker per hour, in a unit of your choice that all pools share. 0 disables cost.hourlyCap. Default 0, range 0 to 100000.',
  }),
  nodeSelector: texts({ default: {}, description: 'Labels that a node must have. Default empty: every node.' }),
}

export const TierSchema = fields(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Name of the tier, shown in the status. 1 to 63 characters.',
    }),
    ...CAPACITY_FIELDS,
    tolerations: list(TolerationSchema, {
      maxItems: 16,
      default: [],
      description: 'Tolerations for the taints of the nodes. The pods of every tier get the tolerations.',
    }),
  },
  { description: 'Kind of nodes that workers can run on.' },
)

export type Tier = Static<typeof TierSchema>

export const DrainSchema = fields(
  {
    timeoutSeconds: seconds({
      minimum: 1,
      maximum: 3600,
      default: 120,
      description:
        'Seconds that a running job has to finish after its worker receives SIGTERM. The grace period of the pod is 30 seconds longer. Default 120, range 1 to 3600.',
    }),
    acknowledgeSeconds: seconds({
      minimum: 1,
      maximum: 600,
      default: 15,
      description:
        'Seconds within which a worker must acknowledge that the worker takes no new jobs. The controller keeps a worker that does not acknowledge and selects another one. Default 15, range 1 to 600, max timeoutSeconds.',
    }),
    removeBusy: Type.Boolean({
      default: false,
      description:
        'Allows the removal of busy workers when true. A busy worker finishes its jobs first. Default false: only workers without a job are removed.',
    }),
  },
  {
    default: {},
    description: 'Removal of workers. The controller removes a worker only after the worker has stopped taking jobs.',
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
    image: Type.String({ minLength: 1, maxLength: 512, description: 'Container image of the worker.' }),
    imagePullPolicy: choice(['Always', 'IfNotPresent', 'Never'], {
      default: 'IfNotPresent',
      description: 'Pull policy of the image: Always, IfNotPresent or Never. Default IfNotPresent.',
    }),
    imagePullSecrets: list(objectName('Name of a Secret in the namespace of the pool.'), {
      set: true,
      maxItems: 16,
      default: [],
      description: 'Names of Secrets with the credentials of the image registry.',
    }),
    env: list(VariableSchema, {
      key: 'name',
      maxItems: 128,
      default: [],
      description:
        'Environment variables of the worker. The controller ignores the names that the controller sets, for example ENGINES. Max 128.',
    }),
    envFrom: list(objectName('Name of a Secret in the namespace of the pool.'), {
      set: true,
      maxItems: 16,
      default: [],
      description: 'Names of Secrets. Each key becomes an environment variable of the worker.',
    }),
    requests: quantities({ description: 'Resource requests of the worker container, for example cpu: 500m.' }),
    limits: Type.Optional(quantities({ description: 'Resource limits of the worker container.' })),
    labels: texts({ default: {}, description: 'Additional labels of the pods.' }),
    annotations: texts({ default: {}, description: 'Additional annotations of the pods.' }),
    nodeSelector: texts({ default: {}, description: 'Labels that a node must have to run the pods.' }),
    tolerations: list(TolerationSchema, {
      maxItems: 32,
      default: [],
      description: 'Tolerations of the pods for node taints.',
    }),
    nextTo: texts({
      default: {},
      description:
        'Labels of other pods in the namespace. Workers run only on nodes with a pod that has all of the labels, for example to share a ReadWriteOnce volume.',
    }),
    priorityClassName: Type.Optional(objectName('Name of the PriorityClass of the pods.')),
    serviceAccountName: Type.Optional(
      objectName(
        'Name of the ServiceAccount of the pods, for the workload identity of a cloud. The Kubernetes token is not mounted.',
      ),
    ),
    volumes: list(VolumeSchema, {
      key: 'name',
      maxItems: 32,
      default: [],
      description: 'Additional volumes of the worker. Max 32.',
    }),
    temporaryBytes: Type.Integer({
      minimum: 1_048_576,
      default: 1_073_741_824,
      description:
        'Size limit in bytes of the volume for temporary files at /tmp. The root file system is read-only. Default 1073741824 (1 GiB), minimum 1048576 (1 MiB).',
    }),
  },
  { description: 'Template of the worker pods.' },
)

/** A part of a PodTemplateSpec. Only the API server knows its schema and validates the merged template. */
export const PodTemplateSchema = fields(
  {
    metadata: Type.Optional(
      fields(
        {
          labels: Type.Optional(texts({ description: 'Labels of the pods.' })),
          annotations: Type.Optional(texts({ description: 'Annotations of the pods.' })),
        },
        { description: 'Metadata of the pods.' },
      ),
    ),
    spec: Type.Optional(
      Type.Unsafe<object>({
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        maxJsonKilobytes: 64,
        description:
          'Fields of the PodSpec, for example affinity, schedulerName or additional containers. The name of the container of the worker is worker. Max 64 KiB as JSON.',
      }),
    ),
  },
  {
    description:
      'Strategic merge patch over the generated pod template, for everything that template does not offer. Containers, volumes and environment variables are merged by name; other lists are replaced; null removes a field. The API server checks the result; the condition Stalled contains its message.',
  },
)

export type Template = Static<typeof TemplateSchema>
export type Volume = Static<typeof VolumeSchema>
