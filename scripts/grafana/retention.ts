import type { Dashboard } from './dashboard.ts'
import type { Row } from './panel.ts'
import { highest, of, sumRate } from './promql.ts'

const POLICY = 'policy=~"$policy"'
const ENFORCED = 'dry_run="false"'
const OLDEST = 'drape_retention_oldest_overdue_seconds'

const glance: Row = {
  title: 'At a glance',
  panels: [
    {
      kind: 'number',
      title: 'Past its own date by',
      description: 'How long the oldest image, of any account, is still there after the date it was stored with.',
      unit: 's',
      queries: [{ expr: highest('', 'drape_sweep_lag_seconds'), legend: '' }],
      width: 5,
      thresholds: [
        [900, 'yellow'],
        [3600, 'red'],
      ],
      runbooks: ['sweep-late'],
    },
    {
      kind: 'number',
      title: 'Past its policy by',
      description:
        'How long the oldest image is still there after the time that a policy gives it; only policies that delete.',
      unit: 's',
      queries: [{ expr: highest('', OLDEST, ENFORCED, POLICY), legend: '' }],
      width: 5,
      thresholds: [[3600, 'red']],
      runbooks: ['retention-overdue'],
    },
    {
      kind: 'number',
      title: 'Held',
      description: 'Images past their time that a legal hold keeps.',
      unit: 'short',
      queries: [{ expr: `sum(${highest('policy', 'drape_retention_held_objects', POLICY)})`, legend: '' }],
      width: 5,
    },
    {
      kind: 'number',
      title: 'Deleted in the last day',
      description: 'By sweeps of what is past its own date, and by policies.',
      unit: 'short',
      queries: [
        { expr: `sum(increase(${of('drape_swept_total', 'kind="objects"')}[1d]))`, legend: 'own date' },
        { expr: `sum(increase(${of('drape_retention_objects_total', ENFORCED)}[1d]))`, legend: 'policies' },
      ],
      width: 5,
    },
    {
      kind: 'number',
      title: 'Policies that only tell',
      description: 'With dryRun, which is the default: they delete nothing.',
      unit: 'short',
      queries: [
        {
          expr: `count(${highest('policy', 'drape_retention_interval_seconds', 'dry_run="true"')}) or vector(0)`,
          legend: '',
        },
      ],
      width: 4,
    },
  ],
}

const dates: Row = {
  title: 'What is past its own date',
  panels: [
    {
      kind: 'lines',
      title: 'Late by',
      description: 'Since when the object is expired that should have been swept first. 0 when there is none.',
      unit: 's',
      queries: [{ expr: highest('namespace', 'drape_sweep_lag_seconds'), legend: '{{namespace}}' }],
      width: 8,
      thresholds: [[3600, 'red']],
      runbooks: ['sweep-late'],
    },
    {
      kind: 'areas',
      title: 'Deleted, by kind',
      description: 'A minute: images, products, links, and records that nobody needs any more.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('kind', 'drape_swept_total')}`, legend: '{{kind}}' }],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'Sweeps in an hour',
      description: 'By outcome.',
      unit: 'short',
      queries: [{ expr: `sum by (outcome) (increase(${of('drape_sweep_seconds_count')}[1h]))`, legend: '{{outcome}}' }],
      width: 8,
      runbooks: ['sweeps-fail'],
    },
  ],
}

const policies: Row = {
  title: 'Policies',
  panels: [
    {
      kind: 'table',
      title: 'After the last run',
      description:
        'Images past their time, how long the oldest is, what is held, and the seconds of the run, by policy.',
      unit: 'short',
      queries: [
        { expr: highest('policy, dry_run', 'drape_retention_overdue_objects', POLICY), legend: 'overdue' },
        { expr: highest('policy, dry_run', OLDEST, POLICY), legend: 'oldest, seconds' },
        { expr: highest('policy, dry_run', 'drape_retention_held_objects', POLICY), legend: 'held' },
        { expr: highest('policy, dry_run', 'drape_retention_run_seconds', POLICY), legend: 'seconds' },
      ],
      width: 12,
      runbooks: ['retention-overdue'],
    },
    {
      kind: 'lines',
      title: 'Oldest past its time',
      description: 'What auditors ask for. A policy that only tells shows how much it would have to do.',
      unit: 's',
      queries: [{ expr: highest('policy, dry_run', OLDEST, POLICY), legend: '{{policy}} dryRun={{dry_run}}' }],
      width: 12,
      runbooks: ['retention-overdue'],
    },
    {
      kind: 'areas',
      title: 'Images deleted, or that would have been',
      description: 'A minute, by policy.',
      unit: 'short',
      queries: [
        {
          expr: `60 * ${sumRate('policy, dry_run', 'drape_retention_objects_total', POLICY)}`,
          legend: '{{policy}} dryRun={{dry_run}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Runs in an hour',
      description: 'By policy and outcome. A run that failed is written down with its reason in its Sweep.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (policy, outcome) (increase(${of('drape_retention_runs_total', POLICY)}[1h]))`,
          legend: '{{policy}} {{outcome}}',
        },
      ],
      width: 12,
      runbooks: ['retention-runs-fail'],
    },
    {
      kind: 'lines',
      title: 'Since the last run that went well, in intervals',
      description: 'Around 1 at most while all is well.',
      unit: 'short',
      queries: [
        {
          expr: `(time() - ${highest('policy', 'drape_retention_last_success_timestamp_seconds', POLICY)}) / ${highest('policy', 'drape_retention_interval_seconds', POLICY)}`,
          legend: '{{policy}}',
        },
      ],
      width: 12,
      thresholds: [[3, 'red']],
      runbooks: ['retention-runs-fail'],
    },
  ],
}

const erasure: Row = {
  title: 'Erasure on request',
  panels: [
    {
      kind: 'lines',
      title: 'Customers erased',
      description: 'Calls of DELETE /customers/{id} in an hour, by answer.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (status) (increase(${of('drape_http_requests_total', 'method="DELETE"', 'route=~".*/customers/.*"')}[1h]))`,
          legend: '{{status}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Deletions in the object store',
      description: 'Calls a second, by outcome. One call deletes many objects.',
      unit: 'ops',
      queries: [
        { expr: sumRate('outcome', 'drape_storage_seconds_count', 'operation="delete"'), legend: '{{outcome}}' },
      ],
      width: 12,
      runbooks: ['object-storage-fails'],
    },
  ],
}

export const retention: Dashboard = {
  name: 'retention',
  title: 'Retention',
  description: 'Whether images are gone when their time is over: by their own date, by policy, and on request.',
  variables: [{ name: 'policy', label: 'Policy', metric: 'drape_retention_interval_seconds' }],
  rows: [glance, dates, policies, erasure],
}
