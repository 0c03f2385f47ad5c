/** A sample, what is changed in it, and what the API server has to say then. */
export interface BrokenSample {
  readonly sample: string
  /** New values by path; undefined takes a field away. */
  readonly set: Readonly<Record<string, unknown>>
  /** The message of the rule that it breaks. */
  readonly says: string
  /** The path that the message points to. */
  readonly at: string
  /** The change is one of an object that is there already. */
  readonly later?: boolean
}

/** At least one for each rule of the definitions. */
export const BROKEN_SAMPLES: readonly BrokenSample[] = [
  {
    sample: 'business-hours',
    set: { 'spec.bounds.min': 51 },
    says: 'min must not be above max',
    at: 'spec.bounds.min',
  },
  {
    sample: 'business-hours',
    set: { 'spec.target.backlogPerSlot': 2 },
    says: 'set exactly one of backlogPerSlot, drainWithinSeconds and oldestWaitSeconds',
    at: 'spec.target',
  },
  {
    sample: 'small',
    set: { 'spec.scaling.policy.target': {} },
    says: 'set exactly one of backlogPerSlot, drainWithinSeconds and oldestWaitSeconds',
    at: 'spec.scaling.policy.target',
  },
  {
    sample: 'business-hours',
    set: { 'spec.target': { backlogPerSlot: 0 } },
    says: 'backlogPerSlot must be at least 0.1',
    at: 'spec.target.backlogPerSlot',
  },
  {
    sample: 'small',
    set: { 'spec.scaling.policy.target': { backlogPerSlot: 0 } },
    says: 'backlogPerSlot must be at least 0.1',
    at: 'spec.scaling.policy.target.backlogPerSlot',
  },
  {
    sample: 'business-hours',
    set: { 'spec.fallback': { mode: 'Static' } },
    says: 'Static and HoldOrHigher need replicas',
    at: 'spec.fallback',
  },
  {
    sample: 'business-hours',
    set: { 'spec.schedules': [{ name: 'never', start: '10:00', end: '10:00', min: 1 }] },
    says: 'start and end must differ',
    at: 'spec.schedules[0].end',
  },
  {
    sample: 'business-hours',
    set: { 'spec.schedules': [{ name: 'idle', start: '10:00', end: '11:00' }] },
    says: 'set min, max or both',
    at: 'spec.schedules[0]',
  },
  {
    sample: 'business-hours',
    set: { 'spec.schedules': [{ name: 'odd', start: '10:00', end: '11:00', min: 3, max: 2 }] },
    says: 'min must not be above max',
    at: 'spec.schedules[0]',
  },
  {
    sample: 'small',
    set: { 'spec.scaling.policyRef': { name: 'business-hours' } },
    says: 'set either policy or policyRef in mode Auto, and neither in other modes',
    at: 'spec.scaling',
  },
  {
    sample: 'fixed',
    set: { 'spec.scaling.policyRef': { name: 'business-hours' } },
    says: 'set either policy or policyRef in mode Auto, and neither in other modes',
    at: 'spec.scaling',
  },
  {
    sample: 'small',
    set: { 'spec.replicas': 3 },
    says: 'replicas must not be set in scaling.mode Auto',
    at: 'spec.replicas',
  },
  {
    sample: 'fixed',
    set: { 'spec.replicas': undefined },
    says: 'scaling.mode Fixed needs replicas',
    at: 'spec',
  },
  {
    sample: 'accelerated',
    set: { 'spec.drain': { timeoutSeconds: 10 } },
    says: 'acknowledgeSeconds must not be above timeoutSeconds',
    at: 'spec.drain',
  },
  {
    sample: 'accelerated',
    set: { 'spec.template.env': [{ name: 'EMPTY' }] },
    says: 'set either value or secret',
    at: 'spec.template.env[0]',
  },
  {
    sample: 'accelerated',
    set: { 'spec.template.volumes': [{ name: 'both', mountPath: '/both', claim: 'files', secret: 'files' }] },
    says: 'set exactly one of claim, secret, configMap and memoryBytes',
    at: 'spec.template.volumes[0]',
  },
  {
    sample: 'small',
    set: { 'metadata.name': 'p'.repeat(53) },
    says: 'the name must have at most 52 characters',
    at: 'metadata.name',
  },
  {
    sample: 'business-hours',
    set: { 'spec.budgets': [{ name: 'half', maxDraining: 1, start: '10:00' }] },
    says: 'set both start and end, or neither',
    at: 'spec.budgets[0]',
  },
  {
    sample: 'mig',
    set: { 'spec.accelerator.resource': 'nvidia.com/gpu' },
    says: 'set exactly one of resource and resourceClaims',
    at: 'spec.accelerator',
  },
  {
    sample: 'mig',
    set: { 'spec.accelerator.count': 2 },
    says: 'count needs resource',
    at: 'spec.accelerator.count',
  },
  {
    sample: 'mig',
    set: { 'spec.accelerator.resourceClaims': [{ name: 'gpu' }] },
    says: 'set exactly one of resourceClaimTemplateName and resourceClaimName',
    at: 'spec.accelerator.resourceClaims[0]',
  },
  {
    sample: 'spot-first',
    set: { 'spec.capacity': { hourlyCost: 2 } },
    says: 'set either capacity or tiers',
    at: 'spec.tiers',
  },
  {
    sample: 'from-url',
    set: { 'metadata.name': 'from.url' },
    says: 'the name must have at most 48 characters and no dots',
    at: 'metadata.name',
  },
  {
    sample: 'from-url',
    set: { 'metadata.name': 'test-mode' },
    says: 'the name test-mode is reserved for try-ons with test keys',
    at: 'metadata.name',
  },
  {
    sample: 'from-volume',
    set: { 'spec.files': [{ path: '../model.onnx', sha256: 'a'.repeat(64), bytes: 1 }] },
    says: 'path must stay inside of the model folder',
    at: 'spec.files[0].path',
  },
  {
    sample: 'from-volume',
    set: { 'spec.source.bundled': {} },
    says: 'set exactly one of bundled, image, persistentVolumeClaim and url',
    at: 'spec.source',
  },
  {
    sample: 'from-volume',
    set: { 'spec.files': [] },
    says: 'files is required unless source.bundled is set',
    at: 'spec.files',
  },
  {
    sample: 'from-url',
    set: { 'spec.files': [{ path: 'model.onnx', sha256: 'b'.repeat(64), bytes: 52428800 }] },
    says: 'files is immutable: create another Engine',
    at: 'spec.files',
    later: true,
  },
  {
    sample: 'three-days',
    set: { 'metadata.name': 'p'.repeat(64) },
    says: 'the name must have at most 63 characters',
    at: 'metadata.name',
  },
  {
    sample: 'three-days',
    set: { 'spec.ttlSeconds': 25_919 },
    says: 'lowering ttlSeconds by more than 90 %, or setting it below 86400, needs confirmShrink equal to the new value',
    at: 'spec.ttlSeconds',
    later: true,
  },
  {
    sample: 'three-days',
    set: { 'spec.ttlSeconds': 60, 'spec.confirmShrink': 61 },
    says: 'lowering ttlSeconds by more than 90 %, or setting it below 86400, needs confirmShrink equal to the new value',
    at: 'spec.ttlSeconds',
    later: true,
  },
  {
    sample: 'three-days-20260501-100000',
    set: { 'spec.objects': 311 },
    says: 'a Sweep with a result is immutable',
    at: 'spec',
    later: true,
  },
  {
    sample: 'three-days-20260501-100000',
    set: { 'spec.startedAt': undefined },
    says: 'to start a run set only policy and dryRun; the controller adds the result',
    at: 'spec',
  },
]
