/** Writes docs/OPTIONS.md from the option tables. */

import { commandRows } from '../../src/commands/commands.ts'
import { commandGroups } from '../../src/faces/cli/command-row.ts'
import {
  defaultText,
  environmentName,
  fullHelp,
  negatedName,
  type OptionGroup,
  type OptionSpec,
  optionGroups,
} from '../../src/faces/cli/options/row.ts'

type Table = Readonly<Record<string, OptionSpec<unknown>>>

const introduction = `# Options

<!-- Written by npm run docs:tables from src/faces/cli/options/. Do not edit. -->

You can set an option as a flag, as an environment variable, or as a line of a YAML file (\`--config FILE\` or
\`NEWCUT_CONFIG=FILE\`). A flag wins over a variable, and a variable wins over the file.

| place | \`--block-delay\` | the switch \`--no-pow\` |
|---|---|---|
| flag | \`--block-delay 10s\` | \`--no-pow\` |
| environment | \`NEWCUT_BLOCK_DELAY=10s\` | \`NEWCUT_NO_POW=true\` |
| file | \`block-delay: 10s\` | \`pow: false\` |

Options for one call of a command are flags only. \`newcut config COMMAND\` prints the effective options of a command as a
YAML file, with the origin of each. \`newcut COMMAND --help\` shows the main options of a command, and \`--help-all\` every
one.
`

/** The whole document. */
export function optionsDocument(): string {
  const sections = commandGroups
    .flatMap((group) => commandRows.filter((row) => row.group === group))
    .map((row) => {
      const notes = row.notes === undefined ? '' : `\n\`\`\`text\n${row.notes}\n\`\`\`\n`
      return `## newcut ${row.name}\n\n${row.isAboutOptions ? ABOUT_OPTIONS : tableText(row.options as Table)}${notes}`
    })
  return [introduction, ...sections].join('\n')
}

const ABOUT_OPTIONS = 'The options of the command that its argument names: by default those of `newcut mine`.\n'

/** A table for each group of options. Options without a group have no heading. */
function tableText(table: Table): string {
  if (Object.keys(table).length === 0) return 'No options.\n'
  const order = [undefined, ...(Object.keys(optionGroups) as OptionGroup[])]
  return order
    .flatMap((group) => {
      const members = Object.entries(table).filter(([, spec]) => spec.group === group)
      const rows = members.map(([name, spec]) => rowText(name, spec))
      if (rows.length === 0) return []
      const heading = group === undefined ? '' : `### ${optionGroups[group]}\n\n`
      return [
        `${heading}| flag | environment | value | default | meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n`,
      ]
    })
    .join('\n')
}

function rowText(name: string, spec: OptionSpec<unknown>): string {
  const flag = negatedName(name, spec) ?? name
  const cells = [
    code(`${spec.short === undefined ? '' : `${spec.short}, `}--${flag} ${spec.placeholder ?? ''}`.trimEnd()),
    spec.isFlagOnly ? 'flag only' : code(environmentName(flag)),
    spec.placeholder === null ? 'switch' : spec.kind.expected,
    defaultOf(spec),
    fullHelp(spec.help, spec.more),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const code = (text: string) => `\`${text}\``

function defaultOf(spec: OptionSpec<unknown>): string {
  if (spec.placeholder === null) return 'off'
  if (spec.standard !== undefined) return spec.standard
  const text = defaultText(spec)
  return text === null ? 'not set' : code(text)
}
