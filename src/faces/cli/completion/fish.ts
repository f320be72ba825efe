/** The completion script of fish. */
import { type CommandCompletion, type CompletionModel, type Flag, secondWord, type ValueCompletion } from './model.ts'

/** A script for ~/.config/fish/completions, which users may also source. */
export function fishScript({ name, flags, commands }: CompletionModel): string {
  const common = `complete -c ${name}`
  const nested = commands.filter((command) => secondWord(command) !== null)
  const cases = nested.map(({ name: words }) => [
    `                case '${words}'`,
    `                    set typed '${words}'`,
  ])
  const completions = [
    `${common} -f`,
    ...flags.map((flag) => `${common} -n __${name}_in ${flagText(flag)}`),
    ...commands
      .filter((command) => !nested.includes(command))
      .map((command) => `${common} -n __${name}_in -a ${command.name} -d ${quote(command.help)}`),
    ...commands.flatMap((command) => linesOf(`${common} -n '__${name}_in ${command.name}'`, command)),
  ]
  return `# fish completion of ${name}; save it as ~/.config/fish/completions/${name}.fish

# Whether the command is the given one; without one, whether none is typed yet.
function __${name}_in
    set -l typed ''
    for word in (commandline -opc)[2..-1]
        if not string match -q -- '-*' $word
            switch "$typed $word"
                case ' *'
                    set typed $word
${cases.flat().join('\n')}
                case '*'
                    break
            end
        end
    end
    test "$typed" = "$argv"
end

${completions.join('\n')}
`
}

function linesOf(start: string, { flags, arguments: places }: CommandCompletion): string[] {
  const words = places.flatMap(({ values }) => values)
  const takesFiles = places.some(({ paths }) => paths !== null)
  return [
    ...flags.map((flag) => `${start} ${flagText(flag)}`),
    ...(words.length === 0 ? [] : [`${start} -a ${quote(words.join(' '))}`]),
    ...(takesFiles ? [`${start} -F`] : []),
  ]
}

function flagText({ names, help, value }: Flag): string {
  const [long, short] = names
  const parts = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.slice(2)}`]
  return [...parts, ...(value === null ? [] : [valueText(value)]), `-d ${quote(help)}`].join(' ')
}

function valueText({ values, paths }: ValueCompletion): string {
  const words = values.join(' ')
  if (paths === 'files') return words === '' ? '-r -F' : `-r -F -a ${quote(words)}`
  if (paths === 'folders') return `-x -a ${quote(`${words} (__fish_complete_directories)`.trim())}`
  return words === '' ? '-x' : `-x -a ${quote(words)}`
}

const quote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`
