/** Splits shell text into commands, as far as documents use the shell. Nothing is run or expanded. */

/** A simple command. */
export interface Command {
  /** Words without their quotes, assignments and redirections left out. */
  readonly words: readonly string[]
  /** `NAME=value` before the first word. */
  readonly assignments: Readonly<Record<string, string>>
  /** The command as it is written. */
  readonly text: string
}

const OPERATORS = ['&&', '||', ';;', '|', ';', '&', '\n', '(', ')'] as const
const REDIRECTION = /^(?:\d*|&)(?:>>?|<<?<?)(?:&\d)?/
/** Words that stand before a command and are none. */
const KEYWORDS = new Set(['if', 'then', 'else', 'elif', 'fi', 'while', 'until', 'do', 'done', '{', '}', '!', 'time'])

class Reader {
  readonly #text: string
  #at = 0
  readonly commands: Command[] = []

  constructor(text: string) {
    this.#text = text
  }

  /** Reads commands up to the end, or to the closing bracket of a substitution. */
  read(isSubstitution = false): void {
    let words: string[] = []
    let start = this.#at
    const end = () => {
      if (words.length > 0) this.commands.push(commandOf(words, this.#text.slice(start, this.#at).trim()))
      words = []
    }
    while (this.#at < this.#text.length) {
      if (isSubstitution && this.#text[this.#at] === ')') break
      const operator = OPERATORS.find((each) => this.#text.startsWith(each, this.#at))
      if (operator !== undefined) {
        end()
        this.#at += operator.length
        start = this.#at
      } else if (/[ \t]/.test(this.#text[this.#at])) this.#at++
      else if (this.#text.startsWith('\\\n', this.#at)) this.#at += 2
      else if (this.#text[this.#at] === '#') this.#at = this.#lineEnd()
      else if (REDIRECTION.test(this.#text.slice(this.#at))) this.#redirection()
      else words.push(this.#word())
    }
    end()
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#at)
    return end < 0 ? this.#text.length : end
  }

  #redirection(): void {
    const [operator = ''] = REDIRECTION.exec(this.#text.slice(this.#at)) ?? []
    this.#at += operator.length
    if (operator.includes('&')) return
    // `<(command)` is a word that a command writes.
    if (this.#text[this.#at] === '(') {
      this.#substitution(1)
      return
    }
    while (this.#text[this.#at] === ' ') this.#at++
    const name = this.#word()
    if (!operator.endsWith('<<')) return
    const close = this.#text.indexOf(`\n${name}`, this.#at)
    if (close < 0) throw new Error(`a here-document without its end ${name}`)
    this.#at = close + 1 + name.length
  }

  #substitution(opening: number): string {
    const start = this.#at
    this.#at += opening
    this.read(true)
    if (this.#text[this.#at] !== ')') throw new Error(`a substitution without its end: ${this.#text.slice(start)}`)
    this.#at++
    return this.#text.slice(start, this.#at)
  }

  #word(): string {
    let word = ''
    let quote = ''
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at]
      if (quote === '' && /[\s;&|()<>]/.test(character)) break
      if (character === quote) quote = ''
      else if (quote === '' && (character === "'" || character === '"')) quote = character
      else if (quote !== "'" && this.#text.startsWith('$(', this.#at)) {
        word += this.#substitution(2)
        continue
      } else if (quote !== "'" && character === '\\') word += this.#text[++this.#at] ?? ''
      else word += character
      this.#at++
    }
    if (quote !== '') throw new Error(`a quote that stays open: ${word}`)
    return word
  }
}

function commandOf(all: readonly string[], text: string): Command {
  const words = [...all]
  const assignments: Record<string, string> = {}
  while (words.length > 0) {
    const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(words[0]) ?? []
    if (name !== undefined) assignments[name] = value
    else if (!KEYWORDS.has(words[0])) break
    words.shift()
  }
  return { words, assignments, text }
}

/** The commands of shell text, those of substitutions among them. @throws Error if a quote or a bracket stays open. */
export function commandsOf(text: string): Command[] {
  const reader = new Reader(text)
  reader.read()
  return reader.commands.filter(({ words }) => words.length > 0)
}

/** A command line of a `console` block, and the lines that it prints. */
export interface Prompted {
  readonly line: string
  readonly output: readonly string[]
}

/** The commands of a `console` block. Lines after a backslash continue a command. @throws Error for text before `$ `. */
export function promptsOf(text: string): Prompted[] {
  const prompts: { line: string; output: string[] }[] = []
  for (const line of text.split('\n')) {
    const last = prompts.at(-1)
    if (line.startsWith('$ ')) prompts.push({ line: line.slice(2), output: [] })
    else if (last === undefined) throw new Error(`output before the first "$ ": ${line}`)
    else if (last.line.endsWith('\\')) last.line += `\n${line}`
    else last.output.push(line)
  }
  return prompts
}
