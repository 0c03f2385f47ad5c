import { html } from '../../http/answers/html.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { type Block, createSafetyBlocks, type SafetyBlocks } from '../../trust/appeals/safety-blocks.store.ts'
import { reasonField } from '../forms/fields.ts'
import { readReason } from '../forms/form.ts'
import { code } from '../html/elements.ts'
import { ACCOUNT_COLUMN } from '../html/ids.ts'
import { type List, listPages, readChosen, seeList } from '../html/list.ts'
import { time } from '../html/times.ts'
import type { OperatorAudit } from '../operator-audit.store.ts'
import { pages } from '../page.ts'
import { actorOf, type DashboardContext } from '../state.ts'

export interface BlockPagesOptions {
  readonly blocks: SafetyBlocks
  readonly audit: OperatorAudit
}

const KINDS = { person: 'photo', product: 'product image', pair: 'photo together with a product image' } as const

const LIST: List<BlockPagesOptions, Block> = {
  path: '/blocks',
  columns: [
    { head: 'Block', of: ['id'], cell: ({ id }) => code(id) },
    { head: 'Image', of: ['kind'], cell: ({ kind }) => KINDS[kind] },
    {
      head: 'Hash begins with',
      of: ['hash'],
      cell: ({ hash }) => code(BigInt(`0b${hash}`).toString(16).padStart(8, '0')),
    },
    { ...ACCOUNT_COLUMN, head: 'Account of the appeal' },
    { head: 'Blocked (UTC)', of: ['createdAt'] },
    {
      head: 'Until (UTC)',
      of: ['expiresAt'],
      cell: ({ expiresAt }) => (expiresAt === null ? 'no end' : time(expiresAt)),
    },
  ],
  filters: [{ of: 'kind', label: 'Image', options: Object.entries(KINDS) }],
  open: (_, { blocks }) => ({
    title: 'Blocked images',
    caption: 'Blocked images, newest first',
    listing: blocks.listing,
    before: html`<p>Operators blocked these images when they decided on <a href="/reviews">reviews</a>. Every account with a safety level refuses them.</p>`,
    empty: html`No image is blocked. To block one, decide “block” on an appeal in <a href="/reviews">Reviews</a>.`,
    chosen: { action: '/blocks/remove', submit: 'Remove the chosen blocks', danger: true, body: reasonField },
  }),
}

/** Images that operators blocked: their list and their removal. */
export const blockPages = pages<BlockPagesOptions>([
  ...listPages(LIST),
  {
    route: 'POST /blocks/remove',
    role: 'support',
    done: { 'block.remove': 'The blocks were removed.' },
    run: removeBlocks,
  },
])

async function removeBlocks(ctx: DashboardContext, { audit }: BlockPagesOptions): Promise<void> {
  const { reason } = readReason(ctx.state.form)
  const ids = readChosen(ctx)
  await audit.record(actorOf(ctx), async (within) => {
    for (const id of ids)
      if (!(await createSafetyBlocks(within).delete(id)))
        throw new DrapeError('VALIDATION_FAILED', `The block ${id} does not exist any more. Reload the list.`)
    return { act: ids.map((object) => ({ action: 'block.remove', object, reason })) }
  })
  seeList(ctx, '/blocks', 'block.remove')
}
