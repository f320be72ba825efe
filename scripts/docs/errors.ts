/** Writes docs/ERRORS.md from the tables of error codes and exit codes. */

import { type ErrorCode, errorCodes } from '../../src/ground/base/errors.ts'
import { exitCodeOf, exitCodes } from '../../src/ground/base/exit-codes.ts'
import { errorGroups } from './error-groups.ts'

const INTRODUCTION = `# Errors

<!-- Written by npm run docs:tables from src/ground/base/errors.ts, exit-codes.ts and scripts/docs/error-groups.ts. Do not edit. -->

An error is one line: what is wrong, where, what to do (in brackets), and a code.

\`\`\`text
newcut: --insecure has no effect: http://10.0.0.5:1848 does not use TLS (use an https:// address) [BAD_OPTION]
\`\`\`

Codes never change their meaning, so scripts can rely on them. With \`--log json\`, an error is a record on stdout.
`

const API = `## In a program

Every error of the packages \`newcut/core\`, \`newcut/node\`, \`newcut/wallet\`, \`newcut/devnet\`, \`newcut/contracts\` and
\`newcut/conformance\` is a \`NewcutError\` with \`code\`, \`message\`, \`hint\` (what to do, where newcut knows it) and
\`cause\`. Errors of the node client also have \`url\`, \`status\`, \`operation\` and \`retryable\`.
`

const EXIT_CODES = `## Exit codes

All commands share these exit codes, which never change their meaning. Other codes come from Node.js (below 20), from the
system (128 plus the number of the signal that killed newcut), or from the command of \`newcut devnet --exec\`.

A restart can help after every code but 2. The systemd unit of the package does not restart newcut after 2.

| exit code | cause |
|---|---|
${Object.entries(exitCodes)
  .map(([code, cause]) => `| ${code} | ${cause} |`)
  .join('\n')}
`

/** The whole document. */
export function errorsDocument(): string {
  const sections = Object.entries(errorGroups).map(([heading, members]) => {
    const rows = Object.entries(members).map(([name, remedy]) => {
      const code = name as ErrorCode
      return `| \`${code}\` | ${errorCodes[code]} | ${remedy} | ${exitCodeOf(code)} |`
    })
    return `## ${heading}\n\n| code | meaning | what to do | exit code |\n|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return [INTRODUCTION, ...sections, EXIT_CODES, API].join('\n')
}
