/** Spans of forms in test files, as the gas log of the network's test runner prints them. */
import { ContractError, type TextPlace } from '../errors.ts'
import type { Form } from '../syntax/form.ts'
import { readProgram, readTest } from '../syntax/program.ts'

export class SourceSpans {
  /** Name of a file -> its text. */
  readonly #texts = new Map<string, string>()
  /** Name of a file -> beginning of a form -> its end. */
  readonly #ends = new Map<string, ReadonlyMap<string, string>>()

  /** @returns the name */
  addFile(name: string, text: string): string {
    if (this.#texts.get(name) !== text) this.#ends.delete(name)
    this.#texts.set(name, text)
    return name
  }

  /** `file:line:column-line:column` of the form that begins at a place; all numbers count from 0. */
  spanAt(file: string, { line, column }: TextPlace): string {
    const from = `${line}:${column}`
    return `${file}:${from}-${this.#endsIn(file).get(from) ?? from}`
  }

  #endsIn(file: string): ReadonlyMap<string, string> {
    const known = this.#ends.get(file)
    if (known !== undefined) return known
    const ends = endsIn(this.#texts.get(file) ?? '')
    this.#ends.set(file, ends)
    return ends
  }
}

function endsIn(text: string): ReadonlyMap<string, string> {
  const ends = new Map<string, string>()
  const lines = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1)
  const visit = (form: Form): void => {
    const { line, column } = form.place
    let last = line
    while (last + 1 < lines.length && lines[last + 1] <= form.to) last++
    ends.set(`${line}:${column}`, `${last}:${form.to - lines[last]}`)
    for (const part of formsWithin(form)) visit(part)
  }
  for (const form of formsIn(text)) visit(form)
  return ends
}

/** Forms of a file that has run: a test file, or a contract. */
function formsIn(text: string): readonly Form[] {
  try {
    return readTest(text)
  } catch (error) {
    if (error instanceof ContractError) return readProgram(text)
    throw error
  }
}

function formsWithin(form: Form): readonly Form[] {
  switch (form.form) {
    case 'call':
    case 'list':
      return form.items
    case 'object':
      return form.fields.map(([, value]) => value)
    case 'binding':
      return form.fields.map(([, variable]) => variable)
    default:
      return []
  }
}
