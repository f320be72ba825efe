/** The patterns of hard sentences that a program can see. */
import { type Sentence, wordsOf } from './sentences.ts'

/** Kinds of text, each with counts of its own. */
export const kinds = ['comments', 'documents', 'help', 'errors', 'titles'] as const
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

/** "is no longer" and the like are plain English. */
const IS_NO =
  /(?<!\bthere )\b(?:is|are|was|were|be) no (?!(?:longer|more|less|fewer|better|worse|later|earlier|way|need|one)\b)\w[\w-]*/i
const BEHIND = /\bbehind (?:the|an?|it|its|each|every|this|that|them|which|all)\b/i
const PRESENT = /\b(?:the|its|their|a|each|every|no) present (?!participle)\w+/i
const MOST = /^["'(*_]*Most (?!of\b)\w+/
const TELLS =
  /\btells? (?:it|its|that|this|whether|of|how|what|which|why|where|when|if|them|the|an?|each|all)\b|\b(?:is|are|was|were|been|be) told\b(?! (?:of|about)\b)/i
const ODD = /\b(?:anew|for ever|under way)\b/i

/** First words of a title that lacks its subject: prepositions, auxiliaries, and verbs that are not nouns too. */
const FRAGMENT = new RegExp(
  '^(?:is|are|was|were|has|have|had|does|do|did|can|cannot|may|must|should|never|also|still|only|not|but|and|' +
    'of|in|on|at|by|with|within|without|from|for|to|if|unless|while|when|whenever|until|once|after|before|below|above|' +
    'beyond|because|that|as|its|their|whose|which|who|what|it|them|refuses?|keeps?|says?|takes?|reads?|gives?|ends?|' +
    'leaves?|returns?|accepts?|prints?|tells?|runs?|gets?|answers?|comes?|finds?|writes?|makes?|goes|go|creates?|mines|lists?|' +
    'continues?|waits?|asks?|adds?|drops?|stops?|pass(?:es)?|fails?|throws?|follows?|costs?|checks?|starts?|offers?|needs?|' +
    'lets?|begins?|stays?|tr(?:y|ies)|uses?|pays?|exits?|computes?|sets?|sends?|searches|knows?|describes?|contains?|' +
    'switch(?:es)?|sums?|judges?|holds?|hashes|hash|includes?|warns?|serves?|grants?|forgets?|converts?|closes?|calls?|skips?|' +
    'resumes?|repeats?|moves?|loses?|loads?|fetch(?:es)?|divides?|compares?|chooses?|agrees?|works?|survives?|stands?|' +
    'shows?|restarts?|replaces?|parses|parse|measures?|leads?|expects?|evaluates?|charges?|arrives?|wraps?|verif(?:y|ies)|turns?|' +
    'submits?|speaks?|signs?|sees|see|retr(?:y|ies)|resolves?|requires?|removes?|puts?|owes?|matches|match|idles?|formats?|' +
    'equals?|differs?|detects?|completes?|buys?|belongs?|weighs?|splits?|saves?|rests?|remembers?|records?|reaches|reach|' +
    'opens?|occurs?|multiplies|listens?|learns?|joins?|ignores?|fits?|fills?|excludes?|draws?|delays?|declares?|decides?|' +
    'covers?|bounds?|believes?|becomes?|applies|apply|allows?|adopts?|aborts?|names|counts|reports|requests|changes) ',
)
/** The fewest words of a title. */
const FEWEST_TITLE_WORDS = 3

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
  {
    name: 'is-no',
    better: 'say "is not a number", not "is no number"',
    find: (sentence) => found(IS_NO, sentence),
  },
  {
    name: 'behind',
    better: 'use "after": "the offset after the last character"',
    find: (sentence) => found(BEHIND, sentence),
  },
  {
    name: 'present',
    better: 'use "current": "the current branch"',
    find: (sentence) => found(PRESENT, sentence),
  },
  {
    name: 'most',
    better: 'use "Maximum": "Maximum gas fee in coins"',
    find: (sentence, kind) => (kind === 'comments' ? found(MOST, sentence) : null),
  },
  {
    name: 'tells',
    better: 'use "reports", "states", "contains" or "names"',
    find: (sentence) => found(TELLS, sentence),
  },
  {
    name: 'odd',
    better: 'use "again", "forever", "in progress"',
    find: (sentence) => found(ODD, sentence),
  },
  {
    name: 'fragment',
    better: 'a title is a whole sentence that stands alone in a log: "the server refuses a body over 2 MiB with 413"',
    find({ plain }, kind) {
      if (kind !== 'titles') return null
      if (wordsOf(plain) < FEWEST_TITLE_WORDS) return `${wordsOf(plain)} words`
      return FRAGMENT.exec(plain)?.[0].trim() ?? null
    },
  },
]
