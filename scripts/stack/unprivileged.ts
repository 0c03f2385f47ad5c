import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { run } from './commands.ts'

/** How to run programs that refuse to run as root. */
export interface Identity {
  /** Owner of the data; undefined if this process is not root and uses its own user. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
  /** The command that runs `program` as that user. */
  wrap(
    program: string,
    args: readonly string[],
  ): { command: string; args: readonly string[]; uid?: number; gid?: number }
}

/**
 * Selects the user that runs the database: the current user, unless it is root. For root: the owner of existing data, else
 * the user `postgres` or `nobody`. Throws if that user cannot access the program.
 */
export async function chooseIdentity(program: string, dataFolder: string): Promise<Identity> {
  if (process.getuid?.() !== 0) return { owner: undefined, wrap: (command, args) => ({ command, args }) }
  const owner = (await ownerOf(dataFolder)) ?? (await idsOf('postgres')) ?? (await idsOf('nobody'))
  if (owner === undefined) throw new Error('PostgreSQL does not run as root, and no user "postgres" or "nobody" exists')

  const plain: Identity = { owner, wrap: (command, args) => ({ command, args, ...owner }) }
  if (await reaches(plain, program, dataFolder)) return plain
  const capable: Identity = {
    owner,
    wrap: (command, args) => ({ command: 'setpriv', args: [...setpriv(owner), command, ...args] }),
  }
  if (await reaches(capable, program, dataFolder)) return capable
  throw new Error(
    `PostgreSQL does not run as root, and the user ${owner.uid} cannot reach ${program} and ${dataFolder}: put the clone into a folder that every user can enter, run as another user, or set DATABASE_URL`,
  )
}

/**
 * A clone below a folder with mode 0700, such as /root, is inaccessible to other users. One capability grants access. The
 * secure bit keeps the capability for access(2), too, which PostgreSQL uses to find its own files.
 */
function setpriv({ uid, gid }: { uid: number; gid: number }): string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const capability = '-all,+dac_override'
  return [...ids, '--securebits=+no_setuid_fixup', `--inh-caps=${capability}`, `--ambient-caps=${capability}`]
}

async function reaches(identity: Identity, program: string, dataFolder: string): Promise<boolean> {
  const { command, args, ...ids } = identity.wrap('test', ['-x', program, '-a', '-x', dirname(dataFolder)])
  return run(command, args, { ...ids, cwd: '/' }).then(
    () => true,
    () => false,
  )
}

async function ownerOf(folder: string): Promise<{ uid: number; gid: number } | undefined> {
  const { uid, gid } = await stat(folder).catch(() => ({ uid: 0, gid: 0 }))
  return uid === 0 ? undefined : { uid, gid }
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    return { uid: Number(await run('id', ['-u', user])), gid: Number(await run('id', ['-g', user])) }
  } catch {
    return undefined
  }
}
