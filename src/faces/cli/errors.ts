/** Errors of command lines, variables, configuration files and network files. */
import { errorRows } from '#ground/base/errors.ts'

export const cliErrors = errorRows({
  wrongValue: {
    code: 'BAD_OPTION',
    text: '{place}: {problem}expected {expected}',
    noHint: 'the text says which values are right',
  },
  /** A word of a closed set, with an error of spelling. */
  misspelledValue: { code: 'BAD_OPTION', text: '{place}: expected {expected}', hint: 'did you mean {word}?' },
  noEffect: { code: 'BAD_OPTION', text: '{flag} has no effect: {reason}', hint: '{advice}' },
  givenTwice: { code: 'BAD_OPTION', text: '--{name} is given twice{values}', hint: 'give it once' },
  setTwice: { code: 'BAD_OPTION', text: '{one} and {other} are the same option', hint: 'set only one of them' },
  unknownCommand: {
    code: 'BAD_OPTION',
    text: '{name}: no such command{guess}',
    hint: 'newcut --help lists all commands',
  },
  unknownOption: {
    code: 'BAD_OPTION',
    text: '{option}: no such option{guess}',
    hint: 'newcut {command} --help-all lists them all',
  },
  unknownFirstOption: {
    code: 'BAD_OPTION',
    text: '{option}: no command has this option{guess}',
    hint: 'a command comes first, such as newcut {command}; newcut --help lists them',
  },
  missingCommand: { code: 'BAD_OPTION', text: '{option}: a command comes first', hint: 'newcut {command} {option}' },
  missingArgument: {
    code: 'BAD_OPTION',
    text: '{command} needs an argument: {argument}',
    hint: 'for example: {example}',
  },
  tooManyArguments: {
    code: 'BAD_OPTION',
    text: '{command} takes {expected}, not {count}',
    hint: 'newcut {command} --help shows its usage',
  },
  missingValue: { code: 'BAD_OPTION', text: '{flag} needs a value', hint: 'write {flag} {placeholder}' },
  /** As commander words it. */
  usage: { code: 'BAD_OPTION', text: '{message}', hint: 'newcut {command} --help shows its usage' },
  unknownVariable: {
    code: 'BAD_OPTION',
    text: '{variable} in the environment: no such option{guess}',
    hint: 'unset it: variables of newcut are NEWCUT_ and the name of an option',
  },
  unreadableConfig: {
    code: 'BAD_CONFIG',
    text: 'cannot read configuration file {file}: {why}',
    hint: '--config FILE names another file',
  },
  invalidConfig: {
    code: 'BAD_CONFIG',
    text: 'configuration file {file} is not valid YAML: {why}',
    hint: 'its lines have the form option: value, such as threads: 2',
  },
  configForm: {
    code: 'BAD_CONFIG',
    text: 'configuration file {file}: expected lines of the form option: value',
    hint: 'such as threads: 2',
  },
  unknownOptionInFile: {
    code: 'BAD_CONFIG',
    text: '{file}, {name}: no such option{guess}',
    hint: 'newcut config prints the options of a command',
  },
  unwritableConfig: {
    code: 'BAD_CONFIG',
    text: 'configuration file {file} cannot be written ({code})',
    hint: 'newcut needs the right to write the file and its folder',
  },
  unknownLiveOption: {
    code: 'BAD_OPTION',
    text: '{name}: no such option{guess}',
    hint: 'GET /2/config has the options in use',
  },
  notOverHttp: {
    code: 'BAD_OPTION',
    text: '{name}: cannot be changed over HTTP',
    hint: 'change it in the configuration file, or on the command line of the next start',
  },
  notWhileRunning: {
    code: 'BAD_OPTION',
    text: '{name}: cannot be changed while the miner runs',
    hint: 'it takes effect at the next start, and there is no configuration file to write it to',
  },
  unusableLogFile: { code: 'BAD_OPTION', text: '--log-file {file}: {problem}', hint: '{advice}' },
  unwritableOutput: { code: 'BAD_OUTPUT', text: '{flag} {file}: {problem}', hint: '{advice}' },
  unreadableNetwork: {
    code: 'BAD_CONFIG',
    text: 'cannot read network file {file}: {why}',
    hint: 'name a file that you may read',
  },
  invalidNetwork: {
    code: 'BAD_CONFIG',
    text: '{place}: {problem}',
    hint: 'the files of networks/ in the package of newcut are examples',
  },
  sameNetwork: {
    code: 'BAD_CONFIG',
    text: '{file} and {other} both describe {network}',
    hint: 'give one of them',
  },
  publicNetwork: {
    code: 'BAD_CONFIG',
    text: '{file}: newcut knows the rules of {network}, which no file may change',
    hint: 'leave --network-file out, or give the network another name',
  },
})
