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
      title: 'Oldest expired image',
      description: 'Time since the expiry date of the oldest expired image of any account.',
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
      title: 'Oldest image past its policy',
      description: 'Time by which the oldest image exceeds its time under a policy. Excludes policies in dry run.',
      unit: 's',
      queries: [{ expr: highest('', OLDEST, ENFORCED, POLICY), legend: '' }],
      width: 5,
      thresholds: [[3600, 'red']],
      runbooks: ['retention-overdue'],
    },
    {
      kind: 'number',
      title: 'Legal holds',
      description:
        'Images past their expiration time that a legal hold keeps, accounts and customers under a hold, and policies with unknown holds.',
      unit: 'short',
      queries: [
        { expr: `sum(${highest('policy', 'drape_retention_held_objects', POLICY)})`, legend: 'images' },
        { expr: highest('', 'drape_legal_holds'), legend: 'holds' },
        { expr: highest('', 'drape_legal_holds_unread_policies'), legend: 'unknown' },
      ],
      width: 5,
      runbooks: ['legal-holds-unknown'],
    },
    {
      kind: 'number',
      title: 'Deleted in the last 24 hours',
      description: 'Deleted by sweeps of expired images and by retention policies.',
      unit: 'short',
      queries: [
        { expr: `sum(increase(${of('drape_swept_total', 'kind="objects"')}[1d]))`, legend: 'expired' },
        { expr: `sum(increase(${of('drape_retention_objects_total', ENFORCED)}[1d]))`, legend: 'policies' },
      ],
      width: 5,
    },
    {
      kind: 'number',
      title: 'Policies in dry run',
      description: 'Policies with dryRun (the default), which delete nothing.',
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
  title: 'Expired images',
  panels: [
    {
      kind: 'lines',
      title: 'Delay',
      description: 'Time since the expiry of the oldest expired object. 0 if no object has expired.',
      unit: 's',
      queries: [{ expr: highest('namespace', 'drape_sweep_lag_seconds'), legend: '{{namespace}}' }],
      width: 8,
      thresholds: [[3600, 'red']],
      runbooks: ['sweep-late'],
    },
    {
      kind: 'areas',
      title: 'Deleted, by kind',
      description: 'Per minute: images, products, links and obsolete records.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('kind', 'drape_swept_total')}`, legend: '{{kind}}' }],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'Sweeps per hour',
      description: 'By outcome.',
      unit: 'short',
      queries: [{ expr: `sum by (outcome) (increase(${of('drape_sweep_seconds_count')}[1h]))`, legend: '{{outcome}}' }],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'Erasures: oldest without a receipt',
      description: 'Time since the oldest erasure of an end user was requested whose receipt is not issued.',
      unit: 's',
      queries: [{ expr: highest('namespace', 'drape_erasures_oldest_seconds'), legend: '{{namespace}}' }],
      width: 8,
      thresholds: [[3600, 'red']],
      runbooks: ['erasure-receipts-late'],
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
        'Images past their expiration time, the age of the oldest, images under a legal hold and the duration of the run, by policy.',
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
      title: 'Oldest image past its expiration time',
      description:
        'The figure that auditors require. For a policy in dry run: the backlog that the policy would delete.',
      unit: 's',
      queries: [{ expr: highest('policy, dry_run', OLDEST, POLICY), legend: '{{policy}} dryRun={{dry_run}}' }],
      width: 12,
      runbooks: ['retention-overdue'],
    },
    {
      kind: 'areas',
      title: 'Images deleted, or matched in a dry run',
      description: 'Per minute, by policy.',
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
      title: 'Runs per hour',
      description: 'By policy and outcome. The Sweep of a failed run contains the reason.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (policy, outcome) (increase(${of('drape_retention_runs_total', POLICY)}[1h]))`,
          legend: '{{policy}} {{outcome}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Intervals since the last successful run',
      description: 'At most about 1 in normal operation.',
      unit: 'short',
      queries: [
        {
          expr: `(time() - ${highest('policy', 'drape_retention_last_success_timestamp_seconds', POLICY)}) / ${highest('policy', 'drape_retention_interval_seconds', POLICY)}`,
          legend: '{{policy}}',
        },
      ],
      width: 12,
      thresholds: [[3, 'red']],
    },
  ],
}

const erasure: Row = {
  title: 'Erasure on request',
  panels: [
    {
      kind: 'lines',
      title: 'Customers erased',
      description: 'Calls of DELETE /customers/{id} per hour, by response status.',
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
      description: 'Calls per second, by outcome. One call deletes several objects.',
      unit: 'ops',
      queries: [
        { expr: sumRate('outcome', 'drape_storage_seconds_count', 'operation="delete"'), legend: '{{outcome}}' },
      ],
      width: 12,
    },
  ],
}

const storage: Row = {
  title: 'Object storage',
  panels: [
    {
      kind: 'lines',
      title: 'Differences with the database',
      description:
        'Found by the last reconciliation: orphans (objects without a row), foreign (objects of unknown accounts), missing (rows without an object), incomplete (unfinished uploads).',
      unit: 'short',
      queries: [{ expr: highest('kind', 'drape_storage_unmatched'), legend: '{{kind}}' }],
      width: 12,
      runbooks: ['storage-not-reconciled'],
    },
    {
      kind: 'lines',
      title: 'Reconciliations per day',
      description: 'Reconciliations of the object storage with the database within 24 hours, by outcome.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (outcome) (increase(${of('drape_storage_reconciliations_total')}[1d]))`,
          legend: '{{outcome}}',
        },
      ],
      width: 12,
      runbooks: ['storage-not-reconciled'],
    },
  ],
}

export const retention: Dashboard = {
  name: 'retention',
  title: 'Retention',
  description: 'Deletion of images: by expiry date, by policy and on request.',
  variables: [{ name: 'policy', label: 'Policy', metric: 'drape_retention_interval_seconds' }],
  rows: [glance, dates, policies, erasure, storage],
}
