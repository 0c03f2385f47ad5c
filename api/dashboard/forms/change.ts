import type { Database } from '../../shared/database/database.ts'
import { seeOther } from '../html/layout.ts'
import type { Act, OperatorAudit } from '../operator-audit.store.ts'
import type { Owns, Page } from '../page.ts'
import type { Role } from '../sign-in/operators.store.ts'
import { actorOf, type Done, type SignedInContext } from '../state.ts'

/** An object that a form changes, for the audit log. */
interface Changed {
  readonly id: string
  readonly accountId?: string | null
  /** Of the operator. */
  readonly reason?: string
}

/** A form that changes one object and leads back to a page. */
interface Change<O, C extends Changed> extends Done {
  readonly route: `POST /${string}`
  readonly role: Role
  readonly owns?: Owns<O>
  readonly form?: string
  /** Name in the audit log. */
  readonly action: string
  /** The object, with what the form says. Throws if there is no such object or the form is not valid. */
  readonly find: (ctx: SignedInContext, options: O) => C | Promise<C>
  /** Changes the object, in the transaction of the audit log. Returns the details of the entry. */
  readonly run: (within: Database, changed: C) => Promise<Act['details']>
}

export function change<O extends { readonly audit: OperatorAudit }, C extends Changed>({
  action,
  message,
  at,
  find,
  run,
  ...page
}: Change<O, C>): Page<O> {
  return {
    ...page,
    done: { [action]: { message, at } },
    run: async (ctx: SignedInContext, options: O) => {
      const changed = await find(ctx, options)
      const { id: object, accountId, reason } = changed
      await options.audit.record(actorOf(ctx), async (within) => {
        const details = await run(within, changed)
        return { act: { action, object, accountId, reason, details } }
      })
      seeOther(ctx, at ?? ctx.state.pages.findFormPage(ctx.path) ?? '/', action)
    },
  }
}
