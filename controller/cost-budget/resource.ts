import { Type } from '../../api/shared/contract/schema.ts'
import { AGE_COLUMN, defineResource, type ObjectOf } from '../definitions/custom-resource.ts'
import { choice, conditions, fields, list, objectName, observedGeneration } from '../definitions/schema-parts.ts'

export const costBudgets = defineResource({
  kind: 'CostBudget',
  plural: 'costbudgets',
  shortName: 'dcb',
  description:
    'CostBudget limits the cost of several WorkerPools together: all of its namespace, or those of some engines.',
  spec: fields(
    {
      hourlyCap: Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'Max cost of the workers of all pools of the budget per hour, in the unit of hourlyCost. Pools whose hourlyCost is 0 do not count. Range 0 to 1000000.',
      }),
      mode: choice(['Soft', 'Hard'], {
        default: 'Hard',
        description:
          'Soft: the min number of workers of each pool takes precedence over the cap, and busy workers above the cap continue. Hard: the cap takes precedence over the min number of workers, and busy workers above the cap finish their jobs, take no others and leave. Default Hard.',
      }),
      engines: list(objectName('Name of an Engine in the namespace of the budget.'), {
        set: true,
        maxItems: 64,
        default: [],
        description:
          'Engines of the budget: each pool that runs at least one of them counts. Default empty: each pool of the namespace counts. Max 64.',
      }),
    },
    {
      description:
        'Limit on the cost. The min number of workers of every pool comes first, then further workers by the priority of the pools, then by hourlyCost. Workers of a pool that does not scale by the demand (mode Fixed or External, or paused) count before all others and are not limited.',
    },
  ),
  status: fields(
    {
      observedGeneration: observedGeneration(),
      pools: Type.Optional(Type.Integer({ description: 'Number of pools that count.' })),
      hourlyCost: Type.Optional(
        Type.Number({ description: 'Cost of the workers of these pools per hour, in the unit of hourlyCost.' }),
      ),
      conditions: conditions(),
    },
    { description: 'Observed state of the budget.' },
  ),
  columns: [
    { name: 'Cap/h', type: 'number', path: '.spec.hourlyCap', description: 'Max cost per hour' },
    { name: 'Cost/h', type: 'number', path: '.status.hourlyCost', description: 'Cost per hour' },
    { name: 'Mode', type: 'string', path: '.spec.mode', description: 'Mode of the cap' },
    { name: 'Pools', type: 'integer', path: '.status.pools', description: 'Number of pools that count' },
    {
      name: 'Above',
      type: 'string',
      path: '.status.conditions[?(@.type=="AboveCap")].status',
      description: 'Status of the AboveCap condition',
    },
    AGE_COLUMN,
  ],
})

export type CostBudget = ObjectOf<typeof costBudgets>
