import { createPgDriverFactory } from '@slonik/pg-driver'
import type { Driver, DriverClient, DriverFactory } from 'slonik'
import { type DatabaseAddress, presentUrl } from './address.ts'
import { assertPrimary, tryHosts } from './session.ts'

const pgDriver = createPgDriverFactory()
/** Code of a statement that writes to a server that refuses writes. */
const READ_ONLY = '25006'

/**
 * Connects to the first host that is a primary, beginning with the last one that was, and prepares each connection. Refuses a Postgres in
 * recovery, which shows a state before the one that is being restored: work on it would delete objects whose rows are still to come. Asks
 * once per connection, because a primary enters recovery only by a restart.
 */
export function connectPrimary(addresses: readonly DatabaseAddress[], prepare: string): DriverFactory {
  return async ({ driverConfiguration }) => {
    const drivers = new Map<DatabaseAddress, Driver>()
    const guard = createReadOnlyGuard()
    let known = addresses
    const findDriver = async (address: DatabaseAddress) => {
      const made =
        drivers.get(address) ??
        (await pgDriver({
          driverConfiguration: {
            ...driverConfiguration,
            connectionUri: presentUrl(address),
            ssl: address.ssl || undefined,
          },
        }))
      drivers.set(address, made)
      return made
    }
    const connect = async (address: DatabaseAddress) => {
      const client = await (await findDriver(address)).createClient()
      // The driver stops listening before a connection that it ends has closed; an error after that would end the process.
      client.on('error', () => {})
      client.acquire()
      try {
        const { rows } = await client.query(prepare)
        assertPrimary(rows[0], address)
        await client.release()
      } catch (error) {
        await client.destroy().catch(() => {})
        throw error
      }
      known = [address, ...addresses.filter((other) => other !== address)]
      return address.mustWrite ? guard(client) : client
    }
    await tryHosts(addresses, findDriver)
    return { createClient: () => tryHosts(known, connect) }
  }
}

/**
 * Closes all connections, each when it is idle, once a server refuses a write: a former primary that still runs would answer reads with
 * an earlier state. New connections are to the host that accepts writes.
 */
function createReadOnlyGuard(): (client: DriverClient) => DriverClient {
  const open = new Set<DriverClient>()
  const close = (client: DriverClient) => {
    const destroy = () => client.destroy().catch(() => {})
    if (client.state() === 'IDLE') destroy()
    else client.on('release', destroy)
  }
  return (client) => {
    open.add(client)
    client.on('destroy', () => open.delete(client))
    return {
      ...client,
      query: (...args) =>
        client.query(...args).catch((error) => {
          if (error?.code === READ_ONLY) for (const each of open) close(each)
          throw error
        }),
    }
  }
}
