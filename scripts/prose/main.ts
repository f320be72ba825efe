/**
 * `npm run prose` lists the sentences that are hard to read; with words, only those whose kind and file contain all of
 * them. `-- --shrink` lowers the exceptions to the current counts, and never raises one.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../root.ts'
import { EXCEPTIONS, exceptionsText, lineOf, shrunk } from './exceptions.ts'
import { type Counts, countsOf, judgeProject } from './findings.ts'
import { helpTexts } from './help.ts'
import { kinds } from './rules.ts'

const words = process.argv.slice(2)
const findings = judgeProject(ROOT, helpTexts())

if (words.includes('--shrink')) {
  const file = join(ROOT, EXCEPTIONS)
  const allowed = JSON.parse(readFileSync(file, 'utf8')) as Counts
  writeFileSync(file, exceptionsText(shrunk(allowed, countsOf(findings))))
  console.log(`wrote ${EXCEPTIONS}`)
} else {
  const shown = findings.filter(({ kind, file }) => words.every((word) => `${kind} ${file}`.includes(word)))
  for (const finding of shown) console.log(`${finding.kind} ${finding.rule}${lineOf(finding)}`)
}
for (const kind of kinds) {
  const own = findings.filter((finding) => finding.kind === kind)
  console.log(`${kind}: ${own.length} in ${new Set(own.map(({ file }) => file)).size} files`)
}
