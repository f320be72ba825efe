/** Options of the commands that talk to contracts. */
import { developmentAccounts } from '#ground/chain/development-accounts.ts'
import { duration, gasPrice, someText, texts, wholeNumber, withCompletions, yesNo } from '../values.ts'
import { forkOptions } from './fork.ts'
import { mineOptions } from './mine.ts'
import { nodeOptions } from './node.ts'
import { flagOnly, option, optional, outputFile, withNeed } from './row.ts'

/** The highest chain number that `--chain` takes. */
const MAX_CHAIN = 9999
const chainOption = flagOnly(option(wholeNumber(0, MAX_CHAIN), 0, 'N', 'chain', { group: 'node' }))
const jsonOption = flagOnly(option(yesNo, false, null, 'print JSON', { group: 'output' }))
const dataOption = flagOnly(optional(someText, 'JSON', 'data that the code reads: JSON or @FILE', { group: 'command' }))
const knownKeys = [...developmentAccounts.map(({ account }) => account), 'miner']
export const keyOption = optional(
  withCompletions(knownKeys, texts),
  'FILE',
  'key that signs: a file of newcut keygen',
  {
    group: 'command',
    more: 'On development networks, sender00 to sender09, account0 and so on, and miner are keys too. Repeat the option to sign with several keys.',
  },
)

const gasUnits = wholeNumber(1, 1e9)
const gasLimit = (units: number) => option(gasUnits, units, 'N', 'maximum gas', { group: 'gas' } as const)

/** Gas and lifetime of a command. */
export const gasOptions = {
  'gas-limit': gasLimit(2500),
  'gas-price': option(gasPrice, '0.00000001', 'COINS', 'price of a unit of gas', { group: 'gas' }),
  ttl: option(duration(1000), 900_000, 'TIME', 'lifetime of the command', {
    group: 'gas',
    more: 'No block takes the command later, so newcut waits at most this long.',
  }),
}

const depthOption = flagOnly(
  option(wholeNumber(0, 1e6), 0, 'N', 'wait for N blocks on top', {
    group: 'output',
    needs: ['waiting'],
  }),
)

const waitOption = flagOnly(
  option(yesNo, true, null, 'wait for the result', { group: 'output', negatedHelp: 'do not wait for the result' }),
)

/** Options of `newcut local`. */
export const localOptions = {
  chain: chainOption,
  ...nodeOptions,
  data: dataOption,
  'gas-limit': optional(gasUnits, 'N', 'maximum gas', { group: 'gas', defaultText: 'gas limit of a block' }),
  sender: flagOnly(
    optional(someText, 'ACCOUNT', 'gas payer that the code sees', { group: 'command', defaultText: 'none' }),
  ),
  rewind: flagOnly(option(wholeNumber(0, 1e9), 0, 'N', 'evaluate N blocks below the head', { group: 'node' })),
  set: flagOnly(
    optional(texts, 'WHAT', 'a row, the time or a key that the code finds instead', {
      group: 'command',
      more: `One of TABLE:KEY={"FIELD": VALUE}, time=2027-01-01T00:00:00Z and key=PUBLICKEY. Needs a node of newcut devnet.`,
    }),
  ),
  json: jsonOption,
}

/** Options of `newcut fund`. */
export const fundOptions = {
  chain: chainOption,
  ...nodeOptions,
  json: jsonOption,
}

const ofControl = { ...nodeOptions, json: jsonOption }
const madeChain = flagOnly(
  optional(wholeNumber(0, MAX_CHAIN), 'N', 'chain', { group: 'node', defaultText: 'every chain' }),
)

/** Options of the control requests to a development network, by the second word of their command. */
export const controlOptions = {
  status: ofControl,
  mine: { chain: madeChain, ...ofControl },
  fork: { chain: chainOption, ...ofControl },
  time: {
    'next-block': flagOnly(option(yesNo, false, null, 'set the time of the next block only', { group: 'command' })),
    ...ofControl,
  },
  impersonate: {
    off: flagOnly(option(yesNo, false, null, 'check these signatures again', { group: 'command' })),
    ...ofControl,
  },
  faults: {
    status: flagOnly(optional(wholeNumber(200, 599), 'CODE', 'status of the answers', { group: 'command' })),
    body: flagOnly(optional(someText, 'TEXT', 'body of the answers', { group: 'command' })),
    delay: flagOnly(optional(duration(1), 'TIME', 'wait before the answers', { group: 'command' })),
    ...ofControl,
  },
}

/** Options of `newcut balance`. */
export const balanceOptions = {
  ...nodeOptions,
  'public-key': mineOptions['public-key'],
  account: mineOptions.account,
  watch: flagOnly(option(yesNo, false, null, 'keep running, and print changes', { group: 'output' })),
  json: jsonOption,
}

/** Options of `newcut sign`. */
export const signOptions = { key: keyOption, json: jsonOption }

/** Options of `newcut send`. */
export const sendOptions = {
  request: flagOnly(
    optional(someText, 'FILE', 'request file to send instead of CODE', {
      group: 'command',
      more: 'YAML or JSON, signed or not. It has chain, gas, signers and capabilities; newcut sign adds signatures.',
    }),
  ),
  ...withNeed('noRequest', { chain: chainOption }),
  ...nodeOptions,
  key: keyOption,
  // A request file has their values.
  ...withNeed('noRequest', {
    data: dataOption,
    cap: flagOnly(
      optional(texts, 'CAP', "capability that the keys sign, such as '(coin.GAS)'", {
        group: 'command',
        more: 'Repeat the option for several. Without it, the signatures cover everything in the command.',
      }),
    ),
    sender: flagOnly(
      optional(someText, 'ACCOUNT', 'gas payer', { group: 'gas', defaultText: 'account of the first key' }),
    ),
    ...gasOptions,
  }),
  preflight: flagOnly(
    option(yesNo, true, null, 'do a trial run on the node first', {
      group: 'output',
      negatedHelp: 'send without a trial run on the node',
    }),
  ),
  wait: waitOption,
  depth: depthOption,
  json: jsonOption,
}

/** Options of `newcut transfer`. */
export const transferOptions = {
  chain: chainOption,
  'to-chain': flagOnly(
    optional(wholeNumber(0, MAX_CHAIN), 'N', 'chain of the receiver', {
      group: 'coins',
      needs: ['firstStep'],
      defaultText: 'same as --chain',
    }),
  ),
  ...nodeOptions,
  key: keyOption,
  'receiver-keyset': flagOnly(
    optional(someText, 'JSON', 'guard of a new receiver: JSON or @FILE', {
      group: 'coins',
      needs: ['firstStep'],
      more: 'A receiver that does not exist yet needs one, unless it is a k: account.',
    }),
  ),
  'gas-payer': flagOnly(
    optional(someText, 'ACCOUNT', 'gas payer on the other chain', {
      group: 'gas',
      needs: ['crossing'],
      defaultText: 'sender',
    }),
  ),
  continue: flagOnly(
    optional(someText, 'KEY', 'continue the transfer of this request key', {
      group: 'coins',
      more: 'It is a transfer to another chain that an earlier call began.',
    }),
  ),
  ...gasOptions,
  depth: depthOption,
  json: jsonOption,
}

/** Options of `newcut trace`. */
export const traceOptions = {
  ...nodeOptions,
  block: flagOnly(
    optional(someText, 'HASH', 'block that holds the transaction', {
      group: 'node',
      more: 'If not set, it is the block of the chain, or else an orphan. A transaction can be in several blocks.',
    }),
  ),
  all: flagOnly(
    option(yesNo, false, null, 'show the steps of buying gas too, and whole values', {
      group: 'output',
      needs: ['noJson'],
    }),
  ),
  json: jsonOption,
}

/** Options of `newcut debug`. */
export const debugOptions = {
  ...nodeOptions,
  block: traceOptions.block,
  ...forkOptions,
  fork: { ...forkOptions.fork, group: 'fork' as const },
}

/** The options that `newcut debug --help` shows. */
export const commonDebugOptions = ['node', 'block', 'fork'] as const

/** Options of `newcut result`. */
export const resultOptions = {
  chain: flagOnly(
    optional(wholeNumber(0, MAX_CHAIN), 'N', 'chain of the command', { group: 'node', defaultText: 'asks all' }),
  ),
  ...nodeOptions,
  wait: waitOption,
  depth: depthOption,
  json: jsonOption,
}

/** Options of `newcut types`. */
export const typesOptions = {
  out: outputFile('file to write; without it, newcut prints', { group: 'output' }),
  chain: chainOption,
  ...nodeOptions,
}
