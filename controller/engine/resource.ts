import { Type } from '../../api/shared/contract/schema.ts'
import { TEST_ENGINE } from '../../api/shared/contract/test-mode.ts'
import { GARMENT_TYPES } from '../../api/shared/generations/generation.ts'
import { AGE_COLUMN, defineResource, type ObjectOf, READY_COLUMN } from '../definitions/custom-resource.ts'
import {
  choice,
  conditions,
  fields,
  list,
  nameRule,
  objectName,
  observedGeneration,
} from '../definitions/schema-parts.ts'

const LicenseSchema = fields(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'SPDX identifier or name of the licence. 1 to 128 characters.',
    }),
    commercialUse: Type.Boolean({ description: 'True when the licence allows commercial use.' }),
    acknowledged: Type.Boolean({
      default: false,
      description:
        'Confirms that the engine is used only within a licence that forbids commercial use. Such an engine becomes Ready only when true. Default false.',
    }),
  },
  { description: 'Licence of the model files.' },
)

const FileSchema = fields(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Path relative to the model folder. Must not leave the folder.',
    }),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      maxLength: 64,
      description: 'SHA-256 digest of the file as a hex string of 64 lowercase characters.',
    }),
    bytes: Type.Integer({ minimum: 1, description: 'Size of the file in bytes. Minimum 1.' }),
  },
  {
    description: 'Model file of the engine.',
    rules: [
      {
        rule: "!self.path.startsWith('/') && !self.path.split('/').exists(part, part == '..' || part == '')",
        message: 'path must stay inside of the model folder',
        fieldPath: '.path',
      },
    ],
  },
)

const SourceSchema = fields(
  {
    bundled: Type.Optional(fields({}, { description: 'The worker image contains the files. The object is empty.' })),
    image: Type.Optional(
      fields(
        {
          reference: Type.String({
            maxLength: 512,
            pattern: '^[^@]+@sha256:[0-9a-f]{64}$',
            description: 'Image reference with digest, for example registry.example/models@sha256:….',
          }),
          mount: choice(['Volume', 'Copy'], {
            default: 'Copy',
            description:
              'Volume: mounts the image as an image volume, which the cluster must support. Copy: an init container copies the files before the worker starts. Default Copy.',
          }),
        },
        { description: 'Container image that contains the files in /models.' },
      ),
    ),
    persistentVolumeClaim: Type.Optional(
      fields(
        {
          claimName: objectName('Name of a PersistentVolumeClaim in the namespace of the pool.'),
          subPath: Type.Optional(
            Type.String({
              maxLength: 256,
              description: 'Folder in the volume that contains the files. Default: the root of the volume.',
            }),
          ),
        },
        { description: 'PersistentVolumeClaim that contains the files.' },
      ),
    ),
    url: Type.Optional(
      fields(
        {
          base: Type.String({
            maxLength: 1024,
            pattern: '^https://',
            description: 'HTTPS URL of the folder that contains the files.',
          }),
          secretName: Type.Optional(
            objectName(
              'Name of a Secret. Its key `authorization` is sent as the Authorization header of each request.',
            ),
          ),
        },
        {
          description:
            'HTTPS server from which a sidecar downloads the files while the worker starts. The sidecar also trusts the certificate authorities that NODE_EXTRA_CA_CERTS in the template of the pool names.',
        },
      ),
    ),
  },
  {
    description: 'Source of the files. Set exactly one of bundled, image, persistentVolumeClaim and url.',
    rules: [
      {
        rule: '[has(self.bundled), has(self.image), has(self.persistentVolumeClaim), has(self.url)].filter(set, set).size() == 1',
        message: 'set exactly one of bundled, image, persistentVolumeClaim and url',
      },
    ],
  },
)

export const engines = defineResource({
  kind: 'Engine',
  plural: 'engines',
  shortName: 'eng',
  description: 'Engine describes the model files of a try-on engine, their source and their licence.',
  spec: fields(
    {
      license: LicenseSchema,
      files: list(FileSchema, {
        key: 'path',
        maxItems: 64,
        default: [],
        description:
          'Model files of the engine, immutable. Workers use the files only after the size and digest of each file were checked. Required unless source.bundled is set. Max 64.',
        rules: [{ rule: 'self == oldSelf', message: 'files is immutable: create another Engine' }],
      }),
      source: SourceSchema,
      runtime: fields(
        {
          minMemoryMiB: Type.Optional(
            Type.Integer({
              minimum: 1,
              description:
                'Device memory that a worker with the engine allocates, in MiB. Workers of pools with nvidia.com/gpu are not placed on nodes whose label nvidia.com/gpu.memory is lower. Default: unknown.',
            }),
          ),
        },
        { default: {}, description: 'Runtime of the engine.' },
      ),
      conformance: fields(
        {
          golden: choice(['IfNoted', 'Required'], {
            default: 'IfNoted',
            description:
              'Policy for the golden image, the expected result of the self-test. IfNoted: the self-test compares its result with the golden image if the export contains one. Required: an export without a golden image is rejected. Default IfNoted.',
          }),
          maxDeviationPercent: Type.Integer({
            minimum: 1,
            maximum: 20,
            default: 2,
            description:
              'Max deviation of the result of the self-test from the golden image, in percent. Default 2, range 1 to 20.',
          }),
        },
        {
          default: {},
          description: 'Requirements of the self-test that a worker must pass before the worker takes jobs.',
        },
      ),
      garmentTypes: Type.Optional(
        list(choice(GARMENT_TYPES, { description: 'Classification of a product image.' }), {
          set: true,
          minItems: 1,
          maxItems: GARMENT_TYPES.length,
          description:
            'Classifications of product images that the engine accepts, for example on_model for garments worn by a model. Try-ons of products with only other classifications are rejected. Default: what the workers report.',
        }),
      ),
    },
    {
      description: 'Desired state of the engine.',
      rules: [
        {
          rule: 'has(self.source.bundled) || self.files.size() > 0',
          message: 'files is required unless source.bundled is set',
          fieldPath: '.files',
        },
      ],
    },
  ),
  status: fields(
    {
      observedGeneration: observedGeneration(),
      phase: Type.Optional(
        choice(['Pending', 'Verified', 'Failed'], {
          description: 'Phase: Pending, Verified or Failed.',
        }),
      ),
      conditions: conditions(),
    },
    { description: 'Observed state of the engine.' },
  ),
  rules: [
    nameRule({
      rule: "self.metadata.name.size() <= 48 && !self.metadata.name.contains('.')",
      message: 'the name must have at most 48 characters and no dots',
    }),
    nameRule({
      rule: `self.metadata.name != '${TEST_ENGINE}'`,
      message: `the name ${TEST_ENGINE} is reserved for try-ons with test keys`,
    }),
  ],
  columns: [
    { name: 'License', type: 'string', path: '.spec.license.name', description: 'Licence of the model files' },
    { name: 'Phase', type: 'string', path: '.status.phase', description: 'Phase of the engine' },
    READY_COLUMN,
    AGE_COLUMN,
  ],
})

export type Engine = ObjectOf<typeof engines>
