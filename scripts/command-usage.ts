/** The part of the usage about the commands that start with these words; null when there is none. */
export function findUsage(usage: string, words: readonly string[]): string | null {
  const blocks = usage.split(/\n(?= {2}\S)/).slice(1)
  // The last block ends before the notes that follow the commands.
  const commands = blocks.map((block) => block.split('\n\n')[0])
  for (let count = words.length; count > 0; count--) {
    const name = words.slice(0, count).join(' ')
    const found = commands.filter((block) => startsWith(block, name))
    const shared = found.flatMap((block) => {
      const [, other] = /and the options of (.+)/.exec(block) ?? []
      return other === undefined ? [] : commands.filter((one) => !found.includes(one) && startsWith(one, other))
    })
    if (found.length > 0) return [...found, ...new Set(shared)].join('\n')
  }
  return null
}

function startsWith(block: string, name: string): boolean {
  return `${block.trimStart()} `.startsWith(`${name} `)
}
