import { DrapeError } from '../shared/contract/errors.ts'
import { Type } from '../shared/contract/schema.ts'
import { createSafetyBlocks, type SafetyBlocks } from '../trust/appeals/safety-blocks.store.ts'
import { presentBlocks } from './blocks.view.ts'
import { fieldsReader } from './form.ts'
import { seeOther, showPage } from './layout.ts'
import type { OperatorAudit } from './operator-audit.store.ts'
import { pages } from './pages.ts'
import { actorOf, type DashboardContext } from './state.ts'

export interface BlockPagesOptions {
  readonly blocks: SafetyBlocks
  readonly audit: OperatorAudit
}

/** Images that operators blocked: their list and their removal. */
export const blockPages = pages<BlockPagesOptions>([
  { route: 'GET /blocks', role: 'viewer', run: showBlocks },
  {
    route: 'POST /blocks/remove',
    role: 'support',
    form: '/blocks',
    done: { 'block.remove': { message: 'The block was removed.', at: '/blocks' } },
    run: removeBlock,
  },
])

const LISTED = 200

async function showBlocks(ctx: DashboardContext, { blocks }: BlockPagesOptions): Promise<void> {
  const body = presentBlocks(await blocks.list(LISTED), { limit: LISTED, forms: ctx.state.forms })
  showPage(ctx, { title: 'Blocked images', body })
}

const readRemoval = fieldsReader(
  Type.Object({
    block: Type.String({ minLength: 5, maxLength: 100 }),
    reason: Type.String({ minLength: 3, maxLength: 500 }),
  }),
)

async function removeBlock(ctx: DashboardContext, { audit }: BlockPagesOptions): Promise<void> {
  const { block, reason } = readRemoval(ctx.state.form)
  await audit.record(actorOf(ctx), async (within) => {
    if (!(await createSafetyBlocks(within).delete(block)))
      throw new DrapeError('VALIDATION_FAILED', 'The block does not exist.', {
        details: [{ path: 'block', message: 'must be the ID of a block in the list' }],
      })
    return { act: { action: 'block.remove', object: block, reason } }
  })
  seeOther(ctx, '/blocks', 'removed')
}
