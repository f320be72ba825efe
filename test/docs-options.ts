/** Writes docs/OPTIONS.md from the option tables, and from the help of commands without a table. */
import { commandGroups } from '../src/cli/command-row.ts'
import { environmentName } from '../src/cli/options/row.ts'
import { commandRows } from '../src/commands/commands.ts'

interface Spec {
  readonly kind: { readonly expected: string; readonly format: (value: never) => unknown }
  readonly fallback: unknown
  readonly placeholder: string | null
  readonly help: string
  readonly isFlagOnly?: true
}

type Table = Readonly<Record<string, Spec>>

/** Defaults that depend on the machine. */
const MACHINE_DEFAULTS: Readonly<Record<string, string>> = { threads: 'number of CPU cores' }

/** Commands that take the options of another command. */
const SAME_OPTIONS: Readonly<Record<string, string>> = { config: 'mine' }

const introduction = `# Options

<!-- Written by npm run docs:options from src/cli/options/. Do not edit. -->

An option is a flag, an environment variable or a line of a YAML file (\`--config FILE\` or \`NEWCUT_CONFIG=FILE\`). A
flag wins over a variable, and a variable wins over the file. In the file the key is the flag without its dashes, as in
\`block-delay: 10s\`. A switch takes \`true\` or \`false\` there; \`--no-pow\` is \`pow: false\`.
Options that belong to one call of their command are flags only.
\`newcut config\` prints the effective options of \`newcut mine\` as such a file, each with its origin.
`

/** The whole document. `helpOf` returns the help of a command, or of the program if called without words. */
export function optionsDocument(helpOf: (...words: string[]) => string): string {
  const sections = commandGroups
    .flatMap((group) => commandRows.filter((row) => row.group === group))
    .map((row) => {
      const command = row.name
      const same = SAME_OPTIONS[command]
      if (same !== undefined) return `## newcut ${command}\n\nThe options of \`newcut ${same}\`.\n`
      if ('options' in row) return `## newcut ${command}\n\n${tableText(row.options as Table)}`
      return `## newcut ${command}\n\n\`\`\`\n${helpOf(command).trimEnd()}\n\`\`\`\n`
    })
  return [introduction, ...sections].join('\n')
}

function tableText(table: Table): string {
  const rows = Object.entries(table).map(([name, spec]) => {
    const flag = spec.placeholder === null && spec.fallback === true ? `no-${name}` : name
    const cells = [
      code(spec.placeholder === null ? `--${flag}` : `--${flag} ${spec.placeholder}`),
      spec.isFlagOnly ? 'flag only' : code(environmentName(flag)),
      spec.placeholder === null ? 'switch' : spec.kind.expected,
      defaultOf(name, spec),
      spec.help,
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  return `| flag | environment | value | default | meaning |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
}

const code = (text: string) => `\`${text}\``

function defaultOf(name: string, { kind, fallback, placeholder }: Spec): string {
  if (placeholder === null) return 'off'
  const machine = MACHINE_DEFAULTS[name]
  if (machine !== undefined) return machine
  return fallback === undefined ? 'not set' : code(String(kind.format(fallback as never)))
}
