import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wrongClock } from '../support/clock.ts'
import { reasonWithout } from '../support/missing.ts'
import { type BundledPostgres, canRunBundledPostgres, startBundledPostgres } from './support/bundled-postgres.ts'

const TEN_DAYS = 864_000
const missing = await reasonWithout('faketime')

describe.skipIf(!canRunBundledPostgres || missing !== '')('base backups of a Postgres whose clock was wrong', () => {
  let postgres: BundledPostgres
  /** Names of base backups in the order in which they were made. */
  const made: string[] = []

  beforeAll(async () => {
    postgres = await startBundledPostgres('clock')
    await postgres.add('a')
    await backUp()
    await postgres.add('b')
  })
  afterAll(() => postgres?.kill())

  const backUp = async () => {
    const output = await postgres.script('base-backup')
    const name = /made (\S+)/.exec(output)?.[1]
    if (name !== undefined) made.push(name)
    return output
  }
  const restartWith = async (clock: Record<string, string> | null) => {
    await postgres.stop()
    postgres.setClock(clock ?? {})
    await postgres.start()
  }

  it('are made again after the clock moved back, and none is deleted for one dated in the future', async () => {
    await restartWith(wrongClock(TEN_DAYS))
    expect(await backUp()).toContain('made')
    await postgres.add('c')
    await restartWith(null)
    expect(await backUp()).toContain('made')
    expect((await postgres.baseBackups()).sort()).toEqual(made.toSorted())
    expect(made).toHaveLength(3)
    expect(await backUp()).toBe('')
  })

  it('are chosen by their position in the log', async () => {
    await postgres.add('d')
    await postgres.add('mistake')
    await postgres.kill()
    expect(await postgres.restoreTo(postgres.times.d)).toContain(`from the base backup ${made[2]}`)
    expect(await postgres.names()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('are restored to the latest state even if dated in the future', async () => {
    await postgres.add('e')
    await postgres.kill()
    const { ARCHIVE } = postgres.env
    await postgres.follow(
      `mkdir "$ARCHIVE/apart"; mv "$ARCHIVE/base/${made[0]}" "$ARCHIVE/base/${made[2]}" "$ARCHIVE/apart"`,
    )
    await expect(postgres.restore(postgres.times.d.replace('Z', '1Z'))).rejects.toThrow('dated in the future')
    expect(await postgres.restoreTo('latest')).toContain(`from the base backup ${made[1]}`)
    expect(await postgres.names()).toEqual(['a', 'b', 'c', 'd', 'e'])
    await postgres.follow(`mv ${ARCHIVE}/apart/* ${ARCHIVE}/base`)
  })

  it('are named to the operator if the clock leaves 2 choices', async () => {
    await postgres.add('f')
    await postgres.add('mistake')
    await restartWith(wrongClock(-TEN_DAYS))
    await backUp()
    expect(made).toHaveLength(4)
    await restartWith(null)
    await postgres.add('g')
    await postgres.kill()
    const refused = postgres.restore(postgres.times.f)
    await expect(refused).rejects.toThrow(`moved back between the base backups ${made[2]} and ${made[3]}`)
    await postgres.restoreTo(postgres.times.f, { RESTORE_FROM: made[2] })
    expect(await postgres.names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })
})
