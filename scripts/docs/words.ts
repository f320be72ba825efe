/**
 * The word list of CONTRIBUTING.md: one word, one meaning. test/words.test.ts compares the document and the names of
 * src.
 */

/** A word of the field, and other words that a reader could expect in its place. */
export interface Word {
  readonly word: string
  readonly meaning: string
  /** Words or names that do not mean it, and what is said in their place. */
  readonly not: string
}

export const words: readonly Word[] = [
  { word: 'work', meaning: 'a header without its nonce, as a node hands it out', not: 'a *job* is the work of a pool' },
  { word: 'job', meaning: 'work of a pool or of the stratum server, with an id', not: 'a *task* waits in a queue' },
  {
    word: 'candidate',
    meaning: 'a nonce that a kernel reports, before it is hashed again',
    not: 'not yet a *solution*',
  },
  {
    word: 'solution',
    meaning: 'a nonce whose hash meets the target of its block',
    not: 'a *share* meets an easier target',
  },
  {
    word: 'share',
    meaning: 'a proof of work for a pool',
    not: 'a part of a whole is a *fraction*, a chance a *probability*',
  },
  {
    word: 'cut',
    meaning: 'the newest block of each chain, seen together',
    not: 'the newest block of one chain is its *head*',
  },
  {
    word: 'verdict',
    meaning: 'how a solution or share ended: accepted, stale, rejected, lost',
    not: 'a *refusal* is an HTTP answer',
  },
  {
    word: 'submit',
    meaning: 'send a solution to its node or pool',
    not: 'not *hand in*, except in the step `handed-in` of the journal',
  },
  {
    word: 'order',
    meaning: 'a sequence: byte order, block order',
    not: 'a *control request*, a *payout*, a *kernel schedule*, a *command* to a fleet',
  },
  { word: 'control request', meaning: 'a call of `/devnet/...` that changes a development network', not: 'an *order*' },
  {
    word: 'schedule',
    meaning: 'the sequence of instructions of a kernel; with times, when a miner pauses',
    not: 'an *order*',
  },
  {
    word: 'fork',
    meaning: 'a numbered change of the rules that blocks vote on',
    not: 'another branch of blocks is a *reorg*; the state of another network is a *copy*',
  },
  {
    word: 'copy',
    meaning: 'the state of another network, fetched as it is needed (option `--fork`)',
    not: 'a *fork* in code',
  },
  {
    word: 'rig',
    meaning: 'a machine that mines at a stratum server, mostly an ASIC',
    not: 'a machine of a fleet is a *member*, except in public names',
  },
  { word: 'session', meaning: 'a connection that is logged in', not: 'a *line* is a line of text' },
  { word: 'step', meaning: 'always with its noun: Merkle step, trace step, pact step', not: 'a bare `Step`' },
  { word: 'view', meaning: 'what shows events: text, JSON, a file, a page', not: 'a *face* is the wing `faces`' },
  { word: 'interface', meaning: 'an interface of the contract language, or the HTTP interface', not: '*face*' },
  { word: 'default', meaning: 'the value of an option that is not set', not: '*standard*' },
  { word: 'current', meaning: 'of this moment', not: '*present*' },
  { word: 'maximum', meaning: 'a limit; its constant begins with `MAX_`', not: '*most*' },
  { word: 'refusal', meaning: 'an answer with an error status, in words', not: '*rejected* is a verdict' },
]

/** The table of the document. */
export const wordTable = (): string =>
  [
    '| word | meaning | not |',
    '|---|---|---|',
    ...words.map(({ word, meaning, not }) => `| ${word} | ${meaning} | ${not} |`),
  ].join('\n')

/** Parts of names that say a mood or a result, and not a thing or an act. No type and no function has one. */
export const unclearParts: readonly string[] = (
  'anew asked beside crew door doubts gave habits insists kept lives manner patience present remind slab spoken spot standard ' +
  'surroundings teller told uptake wanted wish'
).split(' ')
