/** The help texts of all commands and options, from their rows. */

import { commandRows } from '../../src/commands/commands.ts'
import { benchSuites } from '../../src/faces/cli/bench-suites.ts'
import { flagHelpOf, fullHelpOf, type OptionSpec } from '../../src/faces/cli/options/row.ts'

/** A command, or an option of it, and its texts. */
export interface HelpText {
  /** `newcut mine` or `--node`: a name that several commands share stands once. */
  readonly name: string
  readonly text: string
}

/** All help texts, each once. */
export function helpTexts(): HelpText[] {
  const texts = commandRows.flatMap((row): HelpText[] => {
    const own = [row.help, row.about ?? '', row.notes ?? ''].map((text) => ({
      name: `newcut ${row.name}`,
      text,
    }))
    const table = row.options as Readonly<Record<string, Pick<OptionSpec<unknown>, 'help' | 'negatedHelp' | 'more'>>>
    return [
      ...own,
      ...Object.entries(table).map(([name, spec]) => {
        const { help, more } = flagHelpOf(spec)
        return { name: `--${name}`, text: fullHelpOf(help, more) }
      }),
    ]
  })
  const suites = Object.entries(benchSuites).map(([name, text]) => ({ name: `newcut bench ${name}`, text }))
  return [...new Map([...texts, ...suites].map((each) => [`${each.name}\n${each.text}`, each])).values()]
}
