import { parseJsonOrNull } from '../contract/json-or-null.ts'
import type { Log } from '../telemetry/log.ts'
import type { Redis } from './redis.ts'

// Messages may be lost while Redis is unavailable. State is read from Postgres; messages only make reactions prompt.

/** Sends a message to the current subscribers. Never throws and never waits. */
export type Publish = (channel: string, message: unknown) => void

/** Messages of the same moment are one command. */
export function createPublish(redis: Redis, log: Log): Publish {
  let pending: string[] = []
  const send = () => {
    const [channel, message, ...others] = pending
    pending = []
    const sent =
      others.length === 0
        ? redis.client.publish(channel, message)
        : redis.client.eval(PUBLISH_ALL, { arguments: [channel, message, ...others] })
    sent.catch((error) => log.debug({ err: error }, 'not published'))
  }
  return (channel, message) => {
    if (!redis.isReady()) return
    if (pending.length === 0) setImmediate(send)
    pending.push(channel, JSON.stringify(message))
  }
}

const PUBLISH_ALL = `for i = 1, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end`

export interface Subscriptions {
  /** Calls back with every message until the returned function is called. */
  subscribe(channel: string, listener: (message: unknown) => void): () => void
  /** Subscribes to all channels with this prefix, until everything is closed. */
  subscribeAll(prefix: string, listener: (message: unknown) => void): void
  close(): Promise<void>
}

/**
 * Subscribes to many channels on one connection, which is opened for the first of them. The commands of this connection
 * must wait for Redis: it restores subscriptions after a reconnect.
 */
export function createSubscriptions(connect: () => Redis): Subscriptions {
  const listeners = new Map<string, Set<(message: unknown) => void>>()
  let connection: Redis | null = null
  const open = () => {
    connection ??= connect()
    return connection.client
  }
  const deliver = (text: string, channel: string) => {
    const message = parseJsonOrNull(text)
    for (const listener of listeners.get(channel) ?? []) listener(message)
  }

  return {
    subscribe: (channel, listener) => {
      const known = listeners.get(channel)
      if (known) known.add(listener)
      else {
        listeners.set(channel, new Set([listener]))
        open().subscribe(channel, deliver).catch(ignore)
      }
      return () => {
        const left = listeners.get(channel)
        if (!left?.delete(listener) || left.size > 0) return
        listeners.delete(channel)
        open().unsubscribe(channel).catch(ignore)
      }
    },
    subscribeAll: (prefix, listener) => {
      open()
        .pSubscribe(`${prefix}*`, (text) => listener(parseJsonOrNull(text)))
        .catch(ignore)
    },
    close: async () => {
      listeners.clear()
      await connection?.close()
    },
  }
}

const ignore = () => {}
