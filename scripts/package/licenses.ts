/** The licenses of the packages whose code is in the bundled files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'

/** The folder of the package that a module belongs to. */
const PACKAGE = /\/.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/**
 * @param modules paths of the bundled modules, also of newcut
 * @throws {Error} if a package has no license
 */
export function licensesOf(modules: readonly string[], root: string): string {
  const folders = [...new Set(modules.flatMap((module) => PACKAGE.exec(module)?.[0] ?? []))]
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined && license === undefined) throw new Error(`${name} has no license`)
    const text = file === undefined ? `License: ${license}\n` : readFileSync(join(folder, file), 'utf8')
    return { name: `${name} ${version}`, text: text.trim() }
  })
  const sorted = [...new Map(texts.map(({ name, text }) => [name, text]))].toSorted(([a], [b]) => a.localeCompare(b))
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim()
  return `${[['newcut', own], ...sorted].map(([name, text]) => `== ${name}\n\n${text}\n`).join('\n')}`
}
