/** Writes docs/CONTRACT-ERRORS.md from the tables of failures of contracts. */
import { DATABASE_FAILURES } from '../../src/language/contracts/failures/database.ts'
import { LOAD_FAILURES } from '../../src/language/contracts/failures/loading.ts'
import { PACT_FAILURES } from '../../src/language/contracts/failures/pacts.ts'
import type { FailureRow } from '../../src/language/contracts/failures/row.ts'
import { RUN_FAILURES } from '../../src/language/contracts/failures/running.ts'

const HEAD = `# Errors of contracts

<!-- Written by npm run docs:tables from src/language/contracts/failures. Do not edit. -->

Live nodes and test files word many errors of contracts differently. Results of commands have the text of live nodes.
\`newcut test\` prints the text of test files. \`expect-failure\` accepts a part of either.

Words in braces stand for values. \`{id:20}\` is cut after 20 characters, and \`...\` marks the cut. On the wire, a text
ends after 256 characters.
`

/** The document: a table for each part of the language. */
export function failuresDocument(): string {
  return [
    HEAD,
    section('Loading code', LOAD_FAILURES),
    section('Running code', RUN_FAILURES),
    section('Database', DATABASE_FAILURES),
    section('Pacts', PACT_FAILURES),
  ].join('\n')
}

function section(title: string, rows: Readonly<Record<string, FailureRow>>): string {
  const lines = Object.values(rows).map(({ kind, wire, runner }) => {
    return `| ${code(wire)} | ${wire === runner ? 'the same' : code(runner)} | ${kind} |`
  })
  return `## ${title}\n\n| live nodes | test files | type |\n|---|---|---|\n${lines.join('\n')}\n`
}

/** Two spaces in a row, as in \`id:  x\`, stay visible in a table. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``
}
