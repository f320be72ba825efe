/** The row of a command, from which the program, its help, the manual page and completion scripts are made. */
import type { Config } from './config.ts'
import type { OptionTable } from './flags.ts'
import type { CommandContext } from './terminal.ts'
import type { ValueKind } from './values.ts'

/** Groups of commands by what people do, in the order of the help. */
export const commandGroups = ['mining', 'rigs', 'contracts', 'tools'] as const
export type CommandGroup = (typeof commandGroups)[number]

/** An argument, whose values are of a kind. */
interface ArgumentFacts {
  /** In the notation of commander. */
  readonly name: string
  readonly kind: Omit<ValueKind<unknown>, 'format'>
}

/** The texts of a command in help and manual page. */
export interface CommandFacts {
  readonly name: string
  /** Another name of one word, which works as well. */
  readonly alias?: string
  readonly group: CommandGroup
  /** One line of at most 66 letters, without a full stop. */
  readonly help: string
  /** Its modules or drivers take long to load: until it prints something itself, a terminal shows its name and `help`. */
  readonly loadsLong?: true
  /** Arguments in the notation of commander: `<required>`, `[optional]`, `[repeated...]`. */
  readonly args?: readonly (string | ArgumentFacts)[]
  /** The command whose help lists this one, in place of the help of the program. */
  readonly listedIn?: string
  /** It shows options, and uses none of them. */
  readonly isAboutOptions?: true
  /** The usage line. By default, it is made from options and arguments. */
  readonly usage?: string
  /** Sentences below `help`, in the help and in the documents. */
  readonly about?: string
  /** Text below the options. */
  readonly notes?: string
  /** Command lines that work as they stand, with the user's own words in capitals. */
  readonly examples: readonly string[]
}

/** The exit code of a command that ran. */
export type ExitStatus = number | Promise<number>

/** A command whose options come from flags, the environment and a file. */
export interface CommandRow extends CommandFacts {
  readonly options: OptionTable
  /** The options that `--help` shows; all of them if left out. `--help-all` always shows all. */
  readonly common?: readonly string[]
  readonly run: (args: readonly string[], config: Config<unknown>, context: CommandContext) => ExitStatus
}

/** A row whose `run` receives the values of its own table. */
export function commandRow<T extends OptionTable>(
  row: CommandFacts & {
    readonly options: T
    readonly common?: readonly (keyof T & string)[]
    readonly run: (args: readonly string[], config: Config<T>, context: CommandContext) => ExitStatus
  },
): CommandRow {
  return { ...row, run: (args, config, context) => row.run(args, config as Config<T>, context) }
}
