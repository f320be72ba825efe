/** The patterns of hard sentences that a program can see. */
import { type Sentence, wordsOf } from './sentences.ts'

/** Kinds of text, each with counts of its own. */
export const kinds = ['comments', 'documents', 'help', 'errors'] as const
export type Kind = (typeof kinds)[number]

export interface Rule {
  readonly name: string
  /** A better way to write it, for the failure message. */
  readonly better: string
  /** Files whose subject it is. */
  readonly exempt?: readonly string[]
  /** @returns the words that break the rule, or null. */
  readonly find: (sentence: Sentence, kind: Kind) => string | null
}

/** The most words of a sentence. */
export const MOST_WORDS = 28

const OPENING = /^["'(*_]*(?:What\b|Whoever\b|Those (?:that|who|which|of)\b|That of\b|Of\b(?! course\b))/
const ANY_CASE = new RegExp(OPENING, 'i')

const BE = String.raw`\b(?:is|are|was|were|be|been|being|isn't|aren't)`
const BETWEEN = '(?: (?:not|never|always|only|also|still|again|just|now|then|ever|often))*'
/** Verbs that are hard to read in the passive voice, whatever follows. */
const VERBS =
  'waited for|told of|told about|heard of|heard from|looked at|looked for|looked after|spoken of|spoken to|listened to|' +
  'thought of|said of|known of|talked of|hoped for|reckoned with|cared for|gone on with|sent for'
/** "The node is asked for a header" has an object, "a header is asked for" strands its preposition. */
const AFTER =
  '$|[.,;:!?)]| (?:by|again|once|twice|in|at|on|when|whenever|while|until|if|and|or|but|before|after|as|from|with|here|' +
  'there|first|last|later|now|only|too|since|because|without|through|over|during|meanwhile|anew)\\b'
const STRANDED = new RegExp(`${BE}${BETWEEN} (?:(?:${VERBS})\\b|asked (?:for|about)(?=${AFTER}))`, 'i')

/** "each of which" reads well. */
const COUNTED = 'each|none|one|two|all|both|some|most|many|any|either|neither'
const NESTED = new RegExp(
  String.raw`\b(?:to|for|by|with|from|at|in) whom\b|(?<!\b(?:${COUNTED}) )\bof (?:which|whom)\b`,
  'i',
)
const VALUE_COLON = /(?:^|[.;,(] ?)(?:null|undefined): /i
const HISTORY = /\b(?:since then|formerly)\b/i
const FROM_ON = /\bfrom (?!(?:now|then|here|there) )(?:(?!\bto\b|\bon\b)[\w'-]+ ){1,5}on(?=[.,;:)]|$)/i
const GOES_ON = /\b(?:go|goes|going|went|gone) on \w+ing\b/i
const TERMS: Readonly<Record<string, string>> = {
  'hash rate': 'hashrate',
  'hash rates': 'hashrates',
  'standard output': 'stdout',
  'standard error': 'stderr',
  'time-out': 'timeout',
  'back-off': 'backoff',
}
const TERM = new RegExp(`\\b(?:${Object.keys(TERMS).join('|')})\\b`, 'i')

const found = (pattern: RegExp, { plain }: Sentence) => pattern.exec(plain)?.[0].trim() ?? null

/** All rules. Names are keys of the exceptions. */
export const rules: readonly Rule[] = [
  {
    name: 'opening',
    better: 'start with the thing that acts: the function, the node, the miner',
    find(sentence, kind) {
      // A heading may be a question without its mark.
      if (sentence.kind === 'heading' || sentence.plain.endsWith('?')) return null
      return found(kind === 'help' || kind === 'errors' ? ANY_CASE : OPENING, sentence)
    },
  },
  {
    name: 'length',
    better: `make two sentences of it, each of about 20 words and never more than ${MOST_WORDS}`,
    find({ plain }) {
      const words = wordsOf(plain)
      return words > MOST_WORDS ? `${words} words` : null
    },
  },
  {
    name: 'stranded',
    better: 'use the active voice: "newcut waits for the node", not "the node is waited for"',
    find: (sentence) => found(STRANDED, sentence),
  },
  {
    name: 'nested',
    better: 'make a sentence of the relative clause',
    find: (sentence) => found(NESTED, sentence),
  },
  {
    name: 'value-colon',
    better: 'say "@returns null if the chain is unknown", not "null: the chain is unknown"',
    find: (sentence, kind) => (kind === 'comments' ? found(VALUE_COLON, sentence) : null),
  },
  {
    name: 'history',
    exempt: ['CHANGELOG.md'],
    better: 'say how it is; history belongs in the commit message or in CHANGELOG.md',
    find: (sentence) => found(HISTORY, sentence),
  },
  {
    name: 'from-on',
    better: 'leave out "on": "from the next start", "at least 1"',
    find: (sentence) => found(FROM_ON, sentence),
  },
  {
    name: 'goes-on',
    better: 'use "keeps" or "continues": "the counter continues", not "it goes on counting"',
    find: (sentence) => found(GOES_ON, sentence),
  },
  {
    name: 'term',
    better: `use the word of the field: ${[...new Set(Object.values(TERMS))].join(', ')}`,
    find: (sentence) => found(TERM, sentence),
  },
]
