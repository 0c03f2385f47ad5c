import type { FieldProblem } from '../../shared/contract/errors.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import type { DashboardContext } from '../state.ts'
import { typedValues } from './rejected-form.ts'

export interface Conflict {
  /** Name and ID of the object. */
  readonly what: string
  readonly id: string
  readonly sent: Readonly<Record<string, unknown>>
  readonly now: Readonly<Record<string, unknown>>
  /** Labels of the settings. */
  readonly names: Readonly<Record<string, string>>
  readonly audit: Pick<OperatorAudit, 'findChange'>
}

/**
 * Keeps a form whose settings were changed after its page was opened, and shows the current values next to the typed
 * ones. Submitting the form again overwrites the current values. The page of the form is shown next.
 */
export async function keepConflict(ctx: DashboardContext, conflict: Conflict): Promise<void> {
  const { what, sent, now, names } = conflict
  const problems = Object.entries(sent).flatMap(([name, value]): FieldProblem[] => {
    const [wanted, is] = [display(value), display(now[name])]
    return is === wanted ? [] : [{ path: name, message: `${names[name] ?? name} is now “${is}”.` }]
  })
  const values = typedValues(ctx.state.form)
  for (const seen of ['edition', 'opened']) values.delete(seen)
  const message = `${await describeAuthor(ctx, conflict)} after you opened this page. Your changes were not saved. Compare the marked settings; saving again overwrites the ${what}.`
  ctx.state.kept = { action: ctx.path, values, message, problems }
  ctx.status = 409
}

async function describeAuthor(ctx: DashboardContext, { what, id, audit }: Conflict): Promise<string> {
  const opened = new Date(ctx.state.form.get('opened') ?? '')
  const change = Number.isNaN(opened.getTime()) ? null : await audit.findChange(id, opened)
  if (change === null) return `The ${what} was changed`
  const at = `${change.createdAt.toISOString().slice(11, 19)} (UTC)`
  if (change.operatorId !== null && change.operatorId === ctx.state.operator?.id)
    return `You changed the ${what} in another tab at ${at},`
  return `${change.operatorEmail ?? change.actor ?? 'The system'} changed the ${what} at ${at},`
}

function display(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === undefined || value === null || value === '' ? 'none' : [value].flat().join(', ') || 'none'
}
