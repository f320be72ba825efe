/** The completion script of zsh. */
import {
  type CommandCompletion,
  type CompletionModel,
  commandsStartingWith,
  type Flag,
  secondWord,
  type ValueCompletion,
} from './model.ts'

/** A script for the file _newcut in a folder of fpath, which users may also source. */
export function zshScript({ name, flags, commands }: CompletionModel): string {
  const single = commands.filter((command) => secondWord(command) === null)
  return `#compdef ${name}
# zsh completion of ${name}; source it after compinit, or save it as _${name} in a folder of fpath.

_${name}_or_files() {
  local -a offered=("$@")
  _alternative "values:value:($offered)" 'files:file:_files'
}

_${name}_or_folders() {
  local -a offered=("$@")
  _alternative "values:value:($offered)" 'folders:folder:_files -/'
}

_${name}() {
  local curcontext="$curcontext" state line
  local -a commands
  _arguments -C ${flags.map(flagText).join(' ')} '1:command:->command' '*::argument:->arguments'
  case $state in
    command)
      commands=(
${single.map((command) => `        ${quote(`${command.name}:${command.help}`)}`).join('\n')}
      )
      _describe -t commands command commands
      ;;
    arguments)
      case $line[1] in
${single.map((command) => commandText(command, commandsStartingWith(command.name, commands))).join('\n')}
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`
}

/** `nested`: commands of two words that begin with this command. */
function commandText(command: CommandCompletion, nested: readonly CommandCompletion[]): string {
  const own = `          ${callOf(command)}`
  if (nested.length === 0) return `        ${command.name})\n${own}\n          ;;`
  const branches = nested.map((each) => {
    return `            1:${secondWord(each)})\n          shift words; (( CURRENT-- ))\n          ${callOf(each)}\n          ;;`
  })
  // Only after the second word is complete.
  const choice = `          case $((CURRENT > 2)):$words[2] in\n${branches.join('\n')}`
  return `        ${command.name})\n${choice}\n            *)\n${own}\n          ;;\n          esac\n          ;;`
}

/** The call that completes the arguments of a command. */
function callOf({ flags, arguments: places, isVariadic }: CommandCompletion): string {
  const specs = [
    ...flags.map(flagText),
    ...places.map((place, i) => {
      const position = isVariadic && i === places.length - 1 ? '*' : `${i + 1}`
      return quote(`${position}:${escapeSpecification(place.name)}:${actionOf(place)}`)
    }),
  ]
  const lines = specs.map((spec) => ` \\\n            ${spec}`).join('')
  return `_arguments${lines}`
}

function flagText({ names, help, value, isRepeatable }: Flag): string {
  const [long, short] = names
  const text = `[${escapeSpecification(help)}]`
  if (short !== undefined) return `${quote(`(${long} ${short})`)}{${short},${long}}${quote(text)}`
  if (value === null) return quote(long + text)
  return quote(`${isRepeatable ? '*' : ''}${long}=${text}:${escapeSpecification(value.name)}:${actionOf(value)}`)
}

function actionOf({ values, paths }: ValueCompletion): string {
  const words = values.map(escapeSpecification).join(' ')
  if (paths === null) return values.length === 0 ? ' ' : `(${words})`
  // The space keeps zsh from adding options to the call.
  if (values.length > 0) return ` _newcut_or_${paths} ${words}`
  return paths === 'files' ? '_files' : '_files -/'
}

/** For texts within a specification of _arguments. */
const escapeSpecification = (text: string): string => text.replace(/[\\[\]:]/g, '\\$&')

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
