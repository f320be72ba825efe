/**
 * How many modules and files commands may load. A budget is the sum of its parts, and each part has a reason, so a rise
 * needs a new part with a reason of its own. After a fall, lower the first part.
 */

/** A number, and the reason for it. */
export type BudgetPart = readonly [number: number, reason: string]

export type Budget = readonly BudgetPart[]

export const sumOfBudget = (budget: Budget): number => budget.reduce((sum, [number]) => sum + number, 0)

const NETWORKS = 'Networks are data: their lookup, their data and the form of their files.'
const NETWORK_FILE = 'The option for files of networks.'
const MONEY = 'Payment models, and the forecast of rewards.'
const STEPS = 'The command line loads in steps, so that --version and commands without a table need few modules.'

const WIDTHS = 'Widths of text and line breaks, in place of three packages.'

const OPENING = 'The first line of commands that take long to load.'

const ERRORS = 'The texts of errors stand in tables, one for each room.'

const MODES = 'Ways to make blocks are kinds of values of their own.'

const TABLES =
  'Every command has a table of options: those of nodes, tools, tests and conformance, with the words of cases and makers.'

/** Modules of src/ that a command imports at once, followed through static imports. */
export const modulesAtOnce = {
  mine: [
    [266, 'A miner for nodes with CPU threads.'],
    [3, 'Backoff, replacing files, and answers of other machines have modules of their own.'],
    [2, NETWORKS],
    [1, NETWORK_FILE],
    [2, MONEY],
    [4, STEPS],
    [5, TABLES],
    [9, ERRORS],
    [1, MODES],
    [1, WIDTHS],
    [1, OPENING],
  ],
  lead: [
    [255, 'A leader of a fleet for nodes.'],
    [4, 'Backoff, replacing files, files of users, and answers of other machines have modules of their own.'],
    [2, NETWORKS],
    [1, NETWORK_FILE],
    [2, MONEY],
    [4, STEPS],
    [5, TABLES],
    [7, ERRORS],
    [1, MODES],
    [1, WIDTHS],
    [1, OPENING],
  ],
  devnet: [
    [492, 'A whole node, with its evaluator and its pages.'],
    [5, 'Backoff, replacing files, files of users, answers of other machines, and seals have modules of their own.'],
    [2, NETWORKS],
    [1, NETWORK_FILE],
    [1, 'The processor time of threads.'],
    [1, 'Rules that change with the height.'],
    [1, 'The schema of networks, which records of them have.'],
    [1, 'Entity tags of HTTP answers.'],
    [1, 'Genesis headers of forked networks.'],
    [2, 'Schemes of SLH-DSA, and their signatures.'],
    [1, 'The texts of refusals, which left a file of 400 lines.'],
    [1, 'Sizes of modules as stored.'],
    [3, 'Lookups by name, the state that they read, and the page of a missing path.'],
    [1, 'Names of costs, for logs of gas.'],
    [
      3,
      'Simulations: their schema, their endpoint, and the rows that they replace. The rest loads with the first one.',
    ],
    [2, 'Recordings of transactions for the debugger: their schema, and the source that records.'],
    [3, STEPS],
    [4, TABLES],
    [7, ERRORS],
    [2, 'JSON objects of lookups have a writer, and misspelled names a guess.'],
    [1, MODES],
    [1, WIDTHS],
    [1, OPENING],
  ],
  send: [
    [155, 'A wallet, and the client of a node.'],
    [2, 'Backoff, and answers of other machines have modules of their own.'],
    [1, 'Names of keys are apart from the keys, which keygen need not load.'],
    [4, `${NETWORKS} Files of users follow.`],
    [1, NETWORK_FILE],
    [3, STEPS],
    [5, TABLES],
    [5, ERRORS],
    [1, MODES],
    [1, WIDTHS],
    [2, OPENING],
  ],
  keygen: [
    [34, 'The command line, keys, and a file for secrets.'],
    [6, `${TABLES} Their values and refusals follow.`],
    [3, ERRORS],
    [1, WIDTHS],
    [2, OPENING],
  ],
} satisfies Readonly<Record<string, Budget>>

/** The same of `newcut ARGS` in a real process, and the files that it loads. Bundles have many modules in a file. */
export const loadedByArgs = [
  { args: ['--version'], own: 5, files: 4, why: 'The command line alone.' },
  { args: ['keygen'], own: 48, files: 12, why: 'As keygen above, what starts a process, and the texts of errors.' },
] as const

const MINER_MODULES: Budget = [
  [286, 'What a miner for a node has loaded when it has found a block.'],
  [3, NETWORKS],
  [2, MONEY],
  [1, 'The words for a pace are those of auto-mine.'],
  [4, STEPS],
  [4, TABLES],
  [4, ERRORS],
  [1, MODES],
  [1, WIDTHS],
  [1, OPENING],
]

/** The same of a miner for a node that has found a block, with bundles and without. */
export const loadedByMiner = {
  bundled: {
    own: [...MINER_MODULES, [1, 'The file of a step names a module that shared the name of its file.']],
    files: [
      [125, 'The files of the build, each with the modules of a part.'],
      [1, 'The reader of files of networks shares a file with the miner.'],
      [1, 'Development nodes that follow such a file share another.'],
      [1, 'Request files load YAML too, which is a file of its own then.'],
      [2, 'Calls of rewards, which load later, share files with the miner.'],
      [1, 'Genesis headers, which forks read too, are a file of their own.'],
      [3, 'The source for a pace shares files with the miner.'],
      [3, 'Debuggers and planted faults load parts of test runs, which are files of their own then.'],
      [1, 'Guesses at names share a file with the page of a missing path, which loads later.'],
    ],
  },
  separate: {
    own: [...MINER_MODULES, [4, 'Fronts of bundled libraries.']],
    files: [
      [354, 'Each module of newcut and of its packages is a file.'],
      [3, ERRORS],
    ],
  },
} satisfies Readonly<Record<string, { readonly own: Budget; readonly files: Budget }>>

/** Modules of packages that a miner for a node loads. */
export const PACKAGES_OF_MINER = 29

/** Each budget by its name. */
export const allBudgets: Readonly<Record<string, Budget>> = {
  ...modulesAtOnce,
  'modules of a bundled miner': loadedByMiner.bundled.own,
  'files of a bundled miner': loadedByMiner.bundled.files,
  'modules of a miner': loadedByMiner.separate.own,
  'files of a miner': loadedByMiner.separate.files,
}
