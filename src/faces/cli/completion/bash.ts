/** The completion script of bash. It needs bash 3.2 or later, and no other package. */
import { type CommandCompletion, type CompletionModel, secondWord, type ValueCompletion } from './model.ts'

/** Defines a function, and makes bash call it for the program. */
export function bashScript(completed: CompletionModel): string {
  const { name, flags, commands } = completed
  const isNested = (command: CommandCompletion) => secondWord(command) !== null
  const all = [...commands.filter((each) => !isNested(each)).map((command) => command.name), ...namesOf(flags)]
  return `# bash completion of ${name}; source it, or save it where bash-completion looks for scripts.
_${name}_words() {
  case "$1" in
    '') words='${all.join(' ')}' ;;
${commands.map((command) => `    '${command.name}') words='${namesOf(command.flags).join(' ')}' ;;`).join('\n')}
  esac
}

_${name}_takes_value() {
  case "$1 $2" in
${alternatives(commands.flatMap(valueFlagsOf))}
      return 0 ;;
  esac
  return 1
}

_${name}_place() {
  case "$1 $2" in
${placesOf(commands)}
  esac
}

${dispatcher(name, commands.filter(isNested))}
complete -F _${name} ${name}
`
}

const namesOf = (flags: CompletionModel['flags']): string[] => flags.flatMap(({ names }) => names)

const valueFlagsOf = ({ name, flags }: CommandCompletion): string[] =>
  flags.filter(({ value }) => value !== null).flatMap(({ names }) => names.map((flag) => `'${name} ${flag}'`))

const alternatives = (patterns: readonly string[]): string => `    ${patterns.join(' | \\\n    ')})`

/** One branch for each set of words and paths: the same option belongs to many commands. */
function placesOf(commands: readonly CommandCompletion[]): string {
  const branches = new Map<string, string[]>()
  const add = (pattern: string, { values, paths }: ValueCompletion) => {
    if (values.length === 0 && paths === null) return
    const branch = [values.length === 0 ? '' : `words='${values.join(' ')}'`, paths === null ? '' : `paths=${paths}`]
    const body = branch.filter((part) => part !== '').join(' ')
    branches.set(body, [...(branches.get(body) ?? []), pattern])
  }
  for (const { name, flags, arguments: places, isVariadic } of commands) {
    for (const { names, value } of flags) {
      if (value !== null) for (const flag of names) add(`'${name} ${flag}'`, value)
    }
    for (const [i, place] of places.entries()) {
      add(isVariadic && i === places.length - 1 ? `'${name} '[0-9]*` : `'${name} ${i}'`, place)
    }
  }
  return [...branches].map(([body, patterns]) => `${alternatives(patterns)}\n      ${body} ;;`).join('\n')
}

/** The completion function. bash splits words at : and =, so it joins them first: values here contain them. */
const dispatcher = (name: string, nested: readonly CommandCompletion[]): string => `_${name}() {
  local -a typed=()
  local i word last=-1
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((last >= 0)) && [[ $word == [:=]* || \${typed[last]} == *[:=] ]]; then
      typed[last]+=$word
    else
      typed+=("$word")
      last=$((last + 1))
    fi
  done
  local current=\${typed[last]} command= expected= count=0
  for ((i = 0; i < last; i++)); do
    word=\${typed[i]}
    if [[ -n $expected ]]; then
      expected=
    elif [[ -z $command ]]; then
      [[ $word == -* ]] || command=$word
    elif [[ $word != -* ]]; then
      case "$command $word" in${nested.map((each) => `\n        '${each.name}') command='${each.name}' ;;`).join('')}
        *) count=$((count + 1)) ;;
      esac
    elif _${name}_takes_value "$command" "$word"; then
      expected=$word
    fi
  done
  local words= paths= front= IFS=$' \\t\\n'
  if [[ -z $expected && $current == --*=* ]]; then
    expected=\${current%%=*}
    [[ $COMP_WORDBREAKS == *=* ]] || front=$expected=
    current=\${current#*=}
  fi
  if [[ -n $expected ]]; then
    _${name}_place "$command" "$expected"
  elif [[ -z $command || $current == -* ]]; then
    _${name}_words "$command"
  else
    _${name}_place "$command" "$count"
    [[ -n $words$paths || -n $current ]] || _${name}_words "$command"
  fi
  COMPREPLY=($(compgen -P "$front" -W "$words" -- "$current"))
  IFS=$'\\n'
  case $paths in
    files) COMPREPLY+=($(compgen -P "$front" -f -- "$current")) ;;
    folders) COMPREPLY+=($(compgen -P "$front" -d -- "$current")) ;;
  esac
  [[ -z $paths ]] || compopt -o filenames 2> /dev/null
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local before=\${current%"\${current##*:}"}
    for i in "\${!COMPREPLY[@]}"; do
      COMPREPLY[i]=\${COMPREPLY[i]#"$before"}
    done
  fi
}`
