import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { requestService } from './request-service.ts'

/** An empty database with all migrations applied, for one test file. `drop` ends whatever is still connected. */
export async function createTestDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const { templateUrl } = await requestService('postgres', null)
  const template = new URL(templateUrl).pathname.slice(1)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await maintain(templateUrl, `create database ${name} template ${template}`)
  return {
    url: withDatabase(templateUrl, name),
    drop: () => maintain(templateUrl, `drop database if exists ${name} with (force)`),
  }
}

async function maintain(templateUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(templateUrl, 'postgres') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
