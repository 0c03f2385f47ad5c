/**
 * The notes of a version: the text below its heading `## 1.2.0 (2026-11-25)`, up to the next heading of a version.
 * @throws Error if the changelog has no such heading, which then has the date `today`, or nothing below it.
 */
export function readNotes(changelog: string, { version, today }: { version: string; today: Date }): string {
  const sections = changelog.split(/^(?=## )/m)
  const section = sections.find((text) => HEADING.exec(text)?.[1] === version)
  if (section === undefined) {
    const heading = `## ${version} (${today.toISOString().slice(0, 10)})`
    throw new Error(
      `CHANGELOG.md has no heading of ${version}: insert the line "${heading}" above the changes of the version`,
    )
  }
  const notes = section.replace(HEADING, '').trim()
  if (notes === '') throw new Error(`CHANGELOG.md has no text below the heading of ${version}`)
  return `${notes}\n`
}

const HEADING = /^## (\S+) \(\d{4}-\d{2}-\d{2}\)\s*$/m
