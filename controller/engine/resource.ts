import { Type } from '../../api/shared/schema.ts'
import { defineResource, type ObjectOf } from '../custom-resource.ts'
import { choice, conditions, fields, list, objectName, texts } from '../schema-parts.ts'

const LicenseSchema = fields(
  {
    name: Type.String({ minLength: 1, maxLength: 128, description: 'SPDX identifier, or the name of the licence.' }),
    commercialUse: Type.Boolean({ description: 'Whether the licence allows commercial use.' }),
    acknowledged: Type.Boolean({
      default: false,
      description: 'You know that commercial use is not allowed, and use it all the same for what is.',
    }),
  },
  { description: 'Under which terms the model files may be used.' },
)

const FileSchema = fields(
  {
    path: Type.String({ minLength: 1, maxLength: 256, description: 'Where it lies in the model folder.' }),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      maxLength: 64,
      description: 'SHA-256 of its bytes, in hexadecimal.',
    }),
    bytes: Type.Integer({ minimum: 1, description: 'Its size.' }),
  },
  {
    description: 'A file of the engine.',
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
    bundled: Type.Optional(fields({}, { description: 'The files are in the image of the worker.' })),
    image: Type.Optional(
      fields(
        {
          reference: Type.String({
            maxLength: 512,
            pattern: '^[^@]+@sha256:[0-9a-f]{64}$',
            description: 'The image by its digest, as in registry.example/models@sha256:….',
          }),
          mount: choice(['Volume', 'Copy'], {
            default: 'Copy',
            description:
              'Volume mounts the image itself, where the cluster can; Copy has it copied before the worker starts.',
          }),
        },
        { description: 'An image that holds the files.' },
      ),
    ),
    persistentVolumeClaim: Type.Optional(
      fields(
        {
          claimName: objectName('The claim, in this namespace.'),
          subPath: Type.Optional(Type.String({ maxLength: 256, description: 'The folder in the volume.' })),
        },
        { description: 'A volume that holds the files.' },
      ),
    ),
    url: Type.Optional(
      fields(
        {
          base: Type.String({
            maxLength: 1024,
            pattern: '^https://',
            description: 'The folder from which the files are fetched.',
          }),
          secretName: Type.Optional(objectName('A Secret whose key `authorization` is sent along.')),
        },
        { description: 'A place from which the files are fetched before the worker starts.' },
      ),
    ),
  },
  {
    description: 'Where the files come from.',
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
  description: 'The model files of an engine and the terms of their use.',
  spec: fields(
    {
      license: LicenseSchema,
      files: list(FileSchema, {
        key: 'path',
        maxItems: 64,
        default: [],
        description: 'What the engine needs; checked before a worker takes jobs.',
        rules: [{ rule: 'self == oldSelf', message: 'files cannot change: make another Engine' }],
      }),
      source: SourceSchema,
      runtime: fields(
        {
          executionProvider: choice(['cpu', 'cuda', 'tensorrt'], {
            default: 'cpu',
            description: 'What runs the model.',
          }),
        },
        { default: {}, description: 'How the engine runs.' },
      ),
      conformance: fields(
        {
          golden: choice(['IfNoted', 'Required'], {
            default: 'IfNoted',
            description:
              'Whether an export without a golden drawing, with which the self-test compares its own, is refused (Required).',
          }),
          maxDeviationPercent: Type.Integer({
            minimum: 1,
            maximum: 20,
            default: 2,
            description: 'How far the drawing of the self-test may be from the golden one.',
          }),
        },
        { default: {}, description: "What a worker's self-test has to show before it takes jobs." },
      ),
      prefetch: fields(
        {
          enabled: Type.Boolean({
            default: false,
            description: 'Brings the image of the files to nodes before a worker needs it.',
          }),
          nodeSelector: texts({ default: {}, description: 'The nodes.' }),
        },
        { default: {}, description: 'What is done ahead of time.' },
      ),
    },
    {
      description: 'What the engine is.',
      rules: [
        {
          rule: 'has(self.source.bundled) || self.files.size() > 0',
          message: 'files must be named unless they are bundled',
          fieldPath: '.files',
        },
        {
          rule: '!self.prefetch.enabled || has(self.source.image)',
          message: 'only an image can be prefetched',
          fieldPath: '.prefetch',
        },
      ],
    },
  ),
  status: fields(
    {
      observedGeneration: Type.Optional(Type.Integer({ description: 'The edition that was looked at last.' })),
      phase: Type.Optional(choice(['Pending', 'Loading', 'Verified', 'Failed'], { description: 'How far it is.' })),
      nodes: Type.Optional(Type.Integer({ description: 'Nodes that have the files already.' })),
      conditions: conditions(),
    },
    { description: 'What the controller found.' },
  ),
  rules: [
    {
      rule: "self.metadata.name.size() <= 48 && !self.metadata.name.contains('.')",
      message: 'the name must not be longer than 48 characters nor hold a dot',
    },
  ],
  columns: [
    { name: 'License', type: 'string', path: '.spec.license.name', description: 'Terms of use' },
    { name: 'Phase', type: 'string', path: '.status.phase', description: 'How far it is' },
    { name: 'Nodes', type: 'integer', path: '.status.nodes', description: 'Nodes that have the files', wide: true },
    { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status', description: 'Usable' },
    { name: 'Age', type: 'date', path: '.metadata.creationTimestamp', description: 'Since it was made' },
  ],
})

export type Engine = ObjectOf<typeof engines>
