/** ELF machine, and the name in programs of QEMU. */
const PROCESSORS: Readonly<Record<string, { readonly machine: string; readonly qemu: string }>> = {
  amd64: { machine: '\\x3e\\x00', qemu: 'x86_64' },
  arm64: { machine: '\\xb7\\x00', qemu: 'aarch64' },
}

/**
 * Registers the emulator for programs of one processor: in namespaces of its own, so that nothing else on this machine runs such programs
 * (Linux 6.7 or later). All users exist in them, root with all capabilities there. Only a process outside may define the users.
 */
const SCRIPT = `
set -eu
own=$(readlink /proc/self/ns/user)
(
  until [ "$(readlink /proc/$$/ns/user)" != "$own" ]; do sleep 0.02; done
  for kind in gid uid; do echo '0 0 65536' >/proc/$$/\${kind}_map; done
) &
exec unshare --user sh -euc '
  until [ "$(id -u)" = 0 ]; do sleep 0.02; done
  exec unshare --mount sh -euc "$0" "$@"
' '
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  printf %s "$0" >/proc/sys/fs/binfmt_misc/register
  exec "$@"
' "$@"
`

/** Words of a command that runs `command` where programs of the architecture run by emulation, also in another root folder. */
export function withEmulation(architecture: string, command: readonly string[]): readonly string[] {
  const { machine, qemu } = PROCESSORS[architecture]
  const magic = `\\x7fELF\\x02\\x01\\x01${'\\x00'.repeat(9)}\\x02\\x00${machine}`
  // Programs have the type 2 or 3, and any operating system.
  const mask = `${'\\xff'.repeat(7)}\\x00${'\\xff'.repeat(8)}\\xfe\\xff\\xff\\xff`
  return ['sh', '-c', SCRIPT, 'sh', `:qemu:M::${magic}:${mask}:/usr/bin/qemu-${qemu}-static:F`, ...command]
}
