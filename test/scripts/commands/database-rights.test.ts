import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { createDatabase, type Database, sql } from '../../../api/shared/database/database.ts'
import { findPendingMigrations } from '../../../api/shared/database/migrate.ts'
import { sweep } from '../../../api/shared/retention/erase.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { createObjectKeys } from '../../../api/shared/storage/object-keys.store.ts'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { runAudited } from '../../../scripts/commands/audit.ts'
import {
  ensureRole,
  type GrantedProcess,
  grantRights,
  readRoleUrls,
} from '../../../scripts/commands/database-rights.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { runDrape } from '../../support/command-line.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { asProcess } from '../../support/process-roles.ts'
import { requestService } from '../../support/request-service.ts'

const DENIED = '42501'

describe('the database role of a process', () => {
  let url: string
  let drop: () => Promise<void>

  beforeAll(async () => {
    const made = await createTestDatabase()
    url = made.url
    drop = made.drop
  })
  afterAll(() => drop())

  /** The code of the error; null when there is none. */
  const tryAs = async (process: GrantedProcess, statement: string): Promise<string | null> => {
    const client = new pg.Client({ connectionString: asProcess(url, process) })
    await client.connect()
    try {
      await client.query(statement)
      return null
    } catch (error) {
      return (error as { code: string }).code
    } finally {
      await client.end()
    }
  }
  const drape = async (...args: readonly string[]) => {
    const { code, output, stderr } = await runDrape(args, { ...process.env, DATABASE_URL: url })
    return { code, output: output + stderr }
  }

  it.each([
    'select hash from api_keys',
    'select secrets from shops',
    'select password_hash from operators',
    'select email from leads',
    'update accounts set balance = 1000',
    'insert into ledger (account_id, amount, kind) values (null, 1, null)',
    "update generations set status = 'COMPLETED'",
    "select settle_generations('{}')",
    'select answer from idempotency_keys',
    'select data from webhook_deliveries',
    'select payload from outbox',
    'select consent from generations',
    'delete from images',
    'drop table leads',
  ])('of a controller is denied: %s', async (statement) => {
    expect(await tryAs('controller', statement)).toBe(DENIED)
  })

  it.each(['drop table leads', 'alter table accounts drop constraint accounts_balance_check', 'truncate ledger'])(
    'of an API is denied: %s',
    async (statement) => {
      expect(await tryAs('api', statement)).toBe(DENIED)
    },
  )

  describe('of an API, with forged statements', () => {
    let owner: Database
    let client: pg.Client
    let accountId: string
    let ids: readonly string[]

    beforeAll(async () => {
      owner = createDatabase(url, { poolSize: 2 })
      client = new pg.Client({ connectionString: asProcess(url, 'api') })
      await client.connect()
    })
    afterAll(async () => {
      await client.end()
      await owner.end()
    })
    beforeEach(async () => {
      const caller = await createCaller(owner, 10)
      const calls = [callOf(caller), callOf(caller)]
      for (const call of calls) await acceptGeneration(owner, call)
      accountId = caller.accountId
      ids = calls.map(({ generationId }) => generationId)
    })

    const settle = () => client.query('select settle_generations($1)', [ids])
    const moveTo = (status: string) =>
      client.query('update generations set status = $2 where id = any($1)', [ids, status])
    const readBalance = async () => (await createAccounts(owner).find(accountId))?.balance

    it('refunds no generation that has not ended', async () => {
      await settle()
      await moveTo('PROCESSING')
      await settle()
      expect(await readBalance()).toBe(8)
    })

    it.each([
      ['FAILED', 10],
      ['COMPLETED', 8],
    ])('settles a %s generation once, and changes it no more', async (end, balance) => {
      await moveTo(end)
      for (const status of ['PENDING', 'PROCESSING', 'FAILED', 'COMPLETED']) {
        await settle()
        if (status !== end) await expect(moveTo(status)).rejects.toThrow(/^The generation gen_\S+ has ended$/)
      }
      expect(await readBalance()).toBe(balance)
    })

    it.each([
      "result_key = 'results/of-another.jpg'",
      "ingredient_salt = 'of another'",
      "error_code = 'GENERATION_FAILED', error_message = 'Pay here: https://evil.example'",
      'attempt = attempt + 1',
      'finished_at = now()',
      "timings = '{}'",
    ])('changes no result of an ended generation: %s', async (change) => {
      await moveTo('COMPLETED')
      const changed = client.query(`update generations set ${change} where id = any($1)`, [ids])
      await expect(changed).rejects.toThrow(/^The generation gen_\S+ has ended$/)
    })

    it('empties what an erasure empties of an ended generation', async () => {
      await owner.query(sql.unsafe`
        update generations set result_key = 'results/a.jpg', ingredient_salt = 'salt' where account_id = ${accountId}`)
      await moveTo('COMPLETED')
      const empty = 'update generations set result_key = null, ingredient_salt = null where id = any($1)'
      expect((await client.query(empty, [ids])).rowCount).toBe(2)
    })

    it.each([
      ['{"path": "a", "message": "b"}', false],
      ['[1]', false],
      ['[{"path": "a"}]', false],
      ['[{"path": "a", "message": 1}]', false],
      ['[{"path": "a", "message": "b", "more": "c"}]', false],
      [`[{"path": "a", "message": "${'b'.repeat(70_000)}"}]`, false],
      ['[]', true],
      ['[{"path": "a", "message": "b"}, {"path": "c", "message": "d"}]', true],
    ])('stores details of errors only in their documented form: %.50s', async (details, isStored) => {
      const storing = client.query('update generations set error_details = $2 where id = any($1)', [ids, details])
      const refusal = storing.then(
        () => null,
        (error) => error.constraint,
      )
      expect(await refusal).toBe(isStored ? null : 'generations_error_details')
    })

    it('cannot replace the tables of the function', async () => {
      await client.query(`
        create temporary table outbox as select id as generation_id from generations;
        create temporary table generations as
          select id, account_id, 1000 as cost, 'FAILED' as status from public.generations;
        grant all on outbox, generations to public`)
      await settle()
      expect(await readBalance()).toBe(8)
      await client.query('drop table outbox, generations')
    })
  })

  it('of an API creates and drops event partitions only by function', async () => {
    expect(await tryAs('api', "select make_event_partitions('2020-01-01', '2020-01-02')")).toBeNull()
    expect(await tryAs('api', 'drop table events_20200101')).toBe(DENIED)
    expect(await tryAs('api', "select drop_event_partition('2020-01-03')")).toBeNull()
  })

  it('sees in every process that the schema is current', async () => {
    for (const process of ['api', 'controller'] as const)
      expect(await findPendingMigrations(asProcess(url, process))).toEqual([])
  })

  it('of a controller writes the audit log, but neither reads nor deletes entries', async () => {
    const database = createDatabase(asProcess(url, 'controller'), { poolSize: 1 })
    const command = { summary: '', effect: 'changes' as const, inDatabase: async () => ({}) }
    await runAudited(database, { name: 'sweep', command, options: { actor: 'timer' } })
    await database.end()
    expect(await tryAs('controller', 'select action from operator_audit')).toBe(DENIED)
    expect(await tryAs('controller', 'delete from operator_audit')).toBe(DENIED)
  })

  it('of a controller deletes all expired data', async () => {
    const database = createDatabase(asProcess(url, 'controller'), { poolSize: 1 })
    const storage = await createStorage(`file:${(await requestService('folder', null)).path}`, {
      publicUrl: '',
      signingSecret: '',
    })
    const swept = await sweep({
      retention: createRetention(database),
      storage,
    }).finally(() => database.end())
    expect(Object.values(swept)).toEqual(Object.values(swept).map(() => 0))
  })

  it('of a controller reconciles storage', async () => {
    const database = createDatabase(asProcess(url, 'controller'), { poolSize: 1 })
    const keys = createObjectKeys(database)
    try {
      expect(await keys.claimTask(24)).toBe(true)
      expect(await keys.claimTask(24)).toBe(false)
      await keys.releaseTask()
      expect(await keys.adopt([{ key: 'persons/acc_x/img_x.jpg', bytes: 1 }])).toEqual([])
      expect(await keys.expire(['persons/acc_x/img_x.jpg'], 0)).toBe(0)
    } finally {
      await database.end()
    }
  })

  it('loses extra privileges on a grant, and keeps its own', async () => {
    const owner = new pg.Client({ connectionString: url })
    await owner.connect()
    await owner.query('grant select (admin_token), delete on shops to drape_controller')
    await owner.end()
    expect(await tryAs('controller', 'select admin_token from shops')).toBeNull()
    await grantRights(url, { process: 'controller', role: 'drape_controller' })
    expect(await tryAs('controller', 'select admin_token from shops')).toBe(DENIED)
    expect(await tryAs('controller', 'delete from shops')).toBe(DENIED)
    expect(await tryAs('controller', 'select status from generations')).toBeNull()
  })

  it('accepts concurrent grants from several replicas', async () => {
    const grant = { process: 'controller', role: 'drape_controller' } as const
    await Promise.all(Array.from({ length: 8 }, () => grantRights(url, grant)))
    expect(await tryAs('controller', 'select status from generations')).toBeNull()
  })

  it('is created from the URL of the process, and changes its password with the URL', async () => {
    const name = `role_${randomBytes(6).toString('hex')}`
    const urlWith = (password: string) => {
      const changed = new URL(url)
      Object.assign(changed, { username: name, password })
      return changed.href
    }
    for (const password of ["it's:a/pass word", 'another one']) {
      const [role] = readRoleUrls({ CONTROLLER_DATABASE_URL: urlWith(password) })
      expect(role).toEqual({ process: 'controller', role: name, password })
      await ensureRole(url, role)
      await grantRights(url, role)
      const client = new pg.Client({ connectionString: urlWith(password) })
      await client.connect()
      await client.query('select status from generations')
      await expect(client.query('select admin_token from shops')).rejects.toMatchObject({ code: DENIED })
      await client.end()
    }
    const owner = new pg.Client({ connectionString: url })
    await owner.connect()
    await owner.query(`drop owned by ${name}; drop role ${name}`)
    await owner.end()
    expect(() => readRoleUrls({ API_DATABASE_URL: 'postgres://localhost/drape' })).toThrow('API_DATABASE_URL must be')
  })

  it('gets its privileges from drape migrate --grant', async () => {
    const { code, output } = await drape('migrate', '--grant', 'api=drape_api,controller=drape_controller', '--json')
    expect(JSON.parse(output)).toEqual({
      applied: [],
      granted: [
        { process: 'api', role: 'drape_api' },
        { process: 'controller', role: 'drape_controller' },
      ],
    })
    expect(code).toBe(0)
  })

  it.each([
    ['nothing=drape_controller', '--grant takes a role for each of api, controller'],
    ['controller', '--grant takes a role'],
    ['controller=nobody', 'The role nobody does not exist: create role nobody login password'],
    ['controller=drape', 'drape owns the tables and can do anything'],
  ])('is not granted for %s', async (grant, words) => {
    const { code, output } = await drape('migrate', '--grant', grant)
    expect(code).toBe(2)
    expect(output).toContain(words)
  })
})
