/** Lists the files of the project. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The files below a folder without installed packages: paths relative to the folder with `/`, sorted. */
export function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules')
  const names = entries.flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((name) => `${entry.name}/${name}`) : [entry.name],
  )
  return names.toSorted()
}
