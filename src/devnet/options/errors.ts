/** Errors of the options of `startDevnet`, and what to do about each. */
import { errorRows } from '#ground/base/errors.ts'
import { NO_WORK_IN_FORKS } from '#ground/schema/devnet-modes.ts'

export const optionErrors = errorRows({
  notObject: {
    code: 'BAD_OPTION',
    text: 'the options: {value}; expected an object',
    hint: 'pass an object of options, or nothing',
  },
  unknown: { code: 'BAD_OPTION', text: '{name}: there is no such option{guess}', hint: 'options are {names}' },
  wrongValue: {
    code: 'BAD_OPTION',
    text: '{name}: {value}; expected {expected}',
    noHint: 'the text says what the option takes',
  },
  noNetworkFile: {
    code: 'BAD_OPTION',
    text: 'networkName: newcut has no file of the network {name}{guess}',
    hint: 'describe it in `networks`',
  },
  workInFork: { code: 'BAD_OPTION', text: NO_WORK_IN_FORKS, hint: 'leave `pow` out' },
  dataDirAndState: {
    code: 'BAD_OPTION',
    text: 'dataDir and a state exclude each other: a data directory continues its own chains',
    hint: 'leave one of them out',
  },
  workAndAutoMine: {
    code: 'BAD_OPTION',
    text: 'autoMine makes blocks without proof of work',
    hint: 'leave `pow` out, or set it to false',
  },
  highForkTarget: {
    code: 'BAD_OPTION',
    text: "forkTarget: {target}; the network's node release votes for forks up to {highest}",
    hint: 'name a lower fork, or another `nodeRelease`',
  },
  otherGraph: {
    code: 'BAD_OPTION',
    text: 'graph: the forked network has the graph {graph}, not {requested}',
    hint: 'leave `graph` out: a fork has the graph of its network',
  },
  otherForkNetwork: {
    code: 'BAD_OPTION',
    text: 'network {name}: newcut has no file of that network, and the forked node is of {forked}',
    hint: 'name that of the node, or describe the network in a file',
  },
})
