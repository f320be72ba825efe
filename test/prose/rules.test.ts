/** The prose rules on good and bad sentences, and the splitting of text into sentences. */
import { describe, expect, it } from 'vitest'
import { blocksOf } from '../../scripts/prose/blocks.ts'
import { judgeConfiguration, judgeDocument, judgeHelp, judgePage, judgeSource } from '../../scripts/prose/findings.ts'
import { MOST_WORDS, rules } from '../../scripts/prose/rules.ts'
import { sentencesOf, wordsOf } from '../../scripts/prose/sentences.ts'

const lines = (text: string) => text.split('\n').map((each, i) => ({ line: i + 1, text: each }))
const split = (text: string) =>
  blocksOf(lines(text))
    .flatMap(sentencesOf)
    .map(({ line, text: sentence }) => `${line} ${sentence}`)
const rulesOf = (sentence: string) => judgeDocument('page.md', sentence).map(({ rule }) => rule)
const inComment = (comment: string) => judgeSource('src/x.ts', `/** ${comment} */\nexport {}`).map(({ rule }) => rule)
const words = (count: number) => `${'word '.repeat(count).trim()}.`

describe('bad sentences', () => {
  const bad: Readonly<Record<string, readonly string[]>> = {
    opening: [
      'What is wrong with the outputs of a payload.',
      'Whoever asks for many asks for those of few blocks.',
      'Those that connect at the same time.',
      'That of the newest block wins.',
      'Of several nodes the first one is taken.',
      '"What counts" is a word.',
    ],
    length: [words(MOST_WORDS + 1)],
    stranded: [
      'A node that goes away is waited for, and another takes over.',
      'Those headers were not asked for by a rig.',
      'Results are asked for last.',
      'Each new block is told of.',
      'Heads are never looked at.',
      'The node has not been heard of.',
      'Shares and what was said of them.',
    ],
    nested: ['It is the first in the list of which none of this is true.', 'The miner to whom it went has died.'],
    history: ['A batch aims at 10 ms since then.'],
    'from-on': ['It holds from the next start on.'],
    'goes-on': ['A device goes on counting where it stopped.'],
    'is-no': ['A line of the log is no JSON.', 'The names are no rule.'],
    behind: ['The offset behind the last character.'],
    present: ['The blocks do not outweigh the present branch.'],
    tells: ['The error tells whether a retry may help.', 'A rig is told the target.'],
    odd: ['The list is written anew.', 'It waits for ever.', 'A request is under way.'],
    term: ['Results go to standard output, the way there to standard error.', 'The hash rate of a rig is low.'],
  }
  for (const [rule, sentences] of Object.entries(bad)) {
    for (const sentence of sentences)
      it(`a bad sentence breaks the rule ${rule}: ${sentence}`, () => expect(rulesOf(sentence)).toEqual([rule]))
  }

  it('a limit that begins with Most breaks a rule in comments only', () => {
    expect(inComment('Most bytes of one event.')).toEqual(['most'])
    expect(inComment('Most of the nodes answer.')).toEqual([])
    expect(rulesOf('Most nodes answer.')).toEqual([])
  })

  it('a title breaks a rule if it has no subject, or fewer than three words', () => {
    const inTest = (title: string) => judgeSource('test/x.test.ts', `it('${title}', () => {})`).map(({ rule }) => rule)
    expect(inTest('refuses a body over 2 MiB')).toEqual(['fragment'])
    expect(inTest('after a restart of the node')).toEqual(['fragment'])
    expect(inTest('node restarts')).toEqual(['fragment'])
    expect(inTest('the server refuses a body over 2 MiB')).toEqual([])
    expect(judgeSource('test/x.test.ts', "it.each([1])('%s is odd for a node', () => {})")).toEqual([])
  })

  it('the rule value-colon applies to comments only', () => {
    expect(inComment('The chain; null: there is none.')).toEqual(['value-colon'])
    expect(rulesOf('The chain; null: there is none.')).toEqual([])
  })

  it('every rule has a bad sentence', () => {
    expect([...Object.keys(bad), 'fragment', 'most', 'value-colon'].toSorted()).toEqual(
      rules.map(({ name }) => name).toSorted(),
    )
  })
})

describe('good sentences', () => {
  for (const sentence of [
    'If the node goes down, newcut keeps retrying and fails over to the next `--node`.',
    'newcut fails back once a higher-priority node has been healthy for `--failback`.',
    'Pause causes are independent; mining resumes when all are cleared.',
    'Results go to stdout, progress to stderr.',
    'Executes the payload. Returns the mismatch, or null.',
    'The node is asked for a header.',
    'Of course it holds.',
    'What does it cost?',
    '# What it costs',
    'There are ten shares, each of which counts.',
    'There is work from now on.',
    'There is no work, and it is no longer served.',
    'Blocks 1 to 5 come from the node on this machine.',
    'A chain officially stalls, whatever the node says.',
    words(MOST_WORDS),
  ]) {
    it(sentence, () => expect(rulesOf(sentence)).toEqual([]))
  }

  it('CHANGELOG.md may tell history', () => {
    expect(judgeDocument('CHANGELOG.md', 'It has been faster since then.')).toEqual([])
  })
})

describe('splitting', () => {
  it('splitting ends sentences at marks before a space, with the line of the first word', () => {
    expect(split('One is here.\nTwo is\nthere! newcut is three? (Four.) Five')).toEqual([
      '1 One is here.',
      '2 Two is there!',
      '3 newcut is three?',
      '3 (Four.)',
      '3 Five',
    ])
  })

  it('splitting copes with abbreviations, numbers, versions and ellipses', () => {
    expect(
      split('Takes 1.5 s, e.g. Vega, i.e. GCN 5, cf. No. 5 of v20.19. Then etc. and ... so on. Etc. End.'),
    ).toEqual([
      '1 Takes 1.5 s, e.g. Vega, i.e. GCN 5, cf. No. 5 of v20.19.',
      '1 Then etc. and ... so on.',
      '1 Etc.',
      '1 End.',
    ])
  })

  it('splitting keeps code spans, addresses and links whole, each as one word', () => {
    const text = 'Ask `a b. C d` at https://host.example/a. B or [the page](docs/A.md#b.c) now.'
    const [first, second] = blocksOf(lines(text)).flatMap(sentencesOf)
    expect([first.text, wordsOf(first.plain)]).toEqual(['Ask `a b. C d` at https://host.example/a.', 4])
    expect([second.text, wordsOf(second.plain)]).toEqual(['B or [the page](docs/A.md#b.c) now.', 5])
    expect(rulesOf('Run `What is asked for. Of which` once.')).toEqual([])
  })

  it('splitting takes each cell of a table, and bars in code as text', () => {
    expect(split('| a | `b|c` d |\n|---|:--|\n| One. Two. | x \\| y |')).toEqual([
      '1 a',
      '1 `b|c` d',
      '3 One.',
      '3 Two.',
      '3 x \\| y',
    ])
  })

  it('splitting separates list items, headings, quotes and tags of docstrings', () => {
    expect(split('# Head\n- one\n  more\n1. two\n> quoted\n\n@param name the chain\n@returns null if unknown')).toEqual(
      ['1 Head', '2 one more', '4 two quoted', '7 the chain', '8 null if unknown'],
    )
  })

  it('splitting skips fenced and indented code, HTML comments and rulers', () => {
    const text =
      'a\n```sh\nWhat is code.\n```\nb\n\n    What is code.\n    Of code.\n\n<!-- What\nOf -->\nc\n---\n~~~\n```\n~~~\nd\n---\ne'
    expect(split(text)).toEqual(['1 a', '5 b', '12 c', '17 d', '19 e'])
  })

  it('splitting continues an indented list item after a blank line', () => {
    expect(split('- one\n\n  two')).toEqual(['1 one', '3 two'])
  })
})

describe('source files', () => {
  const found = (text: string, name = 'src/x.ts') =>
    judgeSource(name, text).map(({ kind, line, rule }) => `${kind} ${line} ${rule}`)

  it('the reader of source files joins consecutive line comments, and no others', () => {
    expect(found('// One is\n// Of many.\nlet a = 1 // as long as\n// Of these.\n')).toEqual(['comments 4 opening'])
  })

  it('the reader of source files finds every comment, and nothing that only looks like one', () => {
    const text = [
      'const a = "// Of"',
      'const b = /\\/\\/ Of/',
      'const c = `$' + '{a} // Of`',
      'function f() {',
      '  // Of f.',
      '}',
    ]
    expect(found(text.join('\n'))).toEqual(['comments 5 opening'])
  })

  it('the reader of source files reads the reason of a directive', () => {
    expect(found('// biome-ignore lint/style/x: Of course\nlet a\n// biome-ignore lint/y: What is a.\n')).toEqual([
      'comments 3 opening',
    ])
  })

  it('the reader of source files reads error texts in any case, with values as single words', () => {
    const text = [
      "new NewcutError('CODE', `whoever $" + "{name} is`, { hint: a ? 'of a node' : 'a node' })",
      "emit({ type: 'warning', message: 'a block that was ' + 'not ' + 'asked for' })",
      "new Error('of no concern')",
      "throw misbehaved(operation, 'what nobody reads')",
    ].join('\n')
    expect(found(text)).toEqual(['errors 1 opening', 'errors 1 opening', 'errors 2 stranded', 'errors 4 opening'])
    expect(found(text, 'test/x.ts')).toEqual([])
  })

  it('the reader of source files reads titles of it and itWith', () => {
    const text =
      "it('reads a file', () => {})\nitWith(lack, 'is read by a node', () => {})\nitWith(lack, 'a node reads a file')\n"
    expect(found(text, 'test/x.test.ts')).toEqual(['titles 1 fragment', 'titles 2 fragment'])
  })

  it('the reader of source files reads the HELP texts of metrics', () => {
    expect(found("this.#counter('newcut_a', 'Of a card')\nthis.count('newcut_a', 'Of a card')")).toEqual([
      'help 1 opening',
    ])
  })

  it('the reader of source files reads every text of the console', () => {
    expect(found("const text = 'whoever it is'", 'src/faces/cli/lines.ts')).toEqual(['errors 1 opening'])
    expect(found("const text = 'a block ' + 'of the node'", 'src/faces/cli/lines.ts')).toEqual([])
    expect(found("const text = 'whoever it is'")).toEqual([])
  })
})

it('each indented line of a note in help texts is a separate sentence', () => {
  const text = `Suites:\n  one    ${'word '.repeat(20)}\n  two    ${'word '.repeat(20)}\n  of     three`
  expect(judgeHelp([{ name: '--a', text }]).map(({ rule, line }) => [rule, line])).toEqual([['opening', 4]])
})

it('documents that a program wrote are left out', () => {
  expect(judgeDocument('a.md', '<!-- Written by npm run docs. -->\n\nOf course. Of a.')).toEqual([])
})

it('the check reads the comments of a configuration, except the commands indented in them', () => {
  const text = `# What follows is wrong.
#   newcut mine --node URL    of whom it is told of
[Unit]
  # Of three, two
  # have to be there.
Restart=always # Of a value.
`
  const found = judgeConfiguration('deploy/a.conf', text)
  expect(found.map(({ line, rule }) => [line, rule])).toEqual([
    [1, 'opening'],
    [4, 'opening'],
  ])
})

it('the check reads the summaries of alerts', () => {
  const text = `
annotations:
  summary: '{{ $labels.instance }}: the hash rate is low'
  summary: '{{ $labels.instance }}: the hashrate is low'
`
  expect(judgeConfiguration('a.yml', text).map(({ line, rule }) => [line, rule])).toEqual([[3, 'term']])
})

it('the check reads the visible texts of pages', () => {
  const text = `<script>let a = 1 > 2 || 'hash rate' < 'x'</script>
<p title="hash rate now">Speed</p>
<p><b>Rate</b>
  What is mined</p><!-- hash rate -->
<img alt="the hash rate" /><i class="hash rate">Blocks found</i>
`
  expect(judgePage('a.html', text).map(({ line, rule }) => [line, rule])).toEqual([
    [2, 'term'],
    [4, 'opening'],
    [5, 'term'],
  ])
})
