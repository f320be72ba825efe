/** The commands of the terminal debugger. */
import { suggestName } from '#ground/base/similar-names.ts'

interface TerminalCommand {
  readonly name: string
  /** Shorter names. */
  readonly aliases: readonly string[]
  readonly args: string
  readonly help: string
}

const row = (name: string, aliases: string, args: string, help: string): TerminalCommand => ({
  name,
  aliases: aliases === '' ? [] : aliases.split(' '),
  args,
  help,
})

export const terminalCommands: readonly TerminalCommand[] = [
  row('break', 'b', '[WHERE [hit N] [if CODE]]', 'stop at FILE:LINE, LINE or module.function; alone: list breakpoints'),
  row('watch', '', 'TABLE [KEY]', 'stop when a row of the table is written'),
  row('catch', '', 'KIND...', 'stop at failures: expectations, uncaught, all or none'),
  row('delete', 'd', '[NUMBER]', 'remove a breakpoint, or all'),
  row('run', 'r continue c', '', 'go on to the next breakpoint, or to the end'),
  row('step', 's into', '', 'go to the next line, into functions'),
  row('next', 'n over', '', 'go to the next line of this function'),
  row('out', 'o', '', 'go to the end of this function'),
  row('back', '', '[TABLE [KEY]]', 'go back to the last write of a row'),
  row('previous', 'prev', '', 'go back by a line'),
  row('restart', '', '', 'begin again'),
  row('where', 'w bt stack', '', 'show the call stack'),
  row('list', 'l', '', 'show the lines around'),
  row('up', '', '', 'look at the caller'),
  row('down', '', '', 'look at the function that was called'),
  row('locals', 'vars args', '', 'show arguments and variables'),
  row('caps', '', '', 'show capabilities, granted and managed'),
  row('gas', '', '', 'show the gas so far'),
  row('rows', '', '', 'show the rows that the transaction has read and written'),
  row('print', 'p', 'CODE', 'evaluate code here; it changes nothing'),
  row('help', 'h ?', '', 'show these commands'),
  row('quit', 'q exit', '', 'end'),
]

/** The command of a name; else why it is none. */
export function commandOf(word: string): TerminalCommand | { readonly fault: string } {
  const command = terminalCommands.find(({ name, aliases }) => name === word || aliases.includes(word))
  if (command !== undefined) return command
  const guess = suggestName(
    word,
    terminalCommands.map(({ name }) => name),
  )
  return { fault: `${word}: unknown command${guess || '; help lists all'}` }
}

export function helpLines(): string[] {
  const heads = terminalCommands.map(({ name, args }) => `${name} ${args}`.trim())
  const width = Math.max(...heads.map(({ length }) => length))
  return terminalCommands.map(({ aliases, help }, i) => {
    return `  ${heads[i].padEnd(width)}  ${help}${aliases.length === 0 ? '' : ` (${aliases.join(', ')})`}`
  })
}
