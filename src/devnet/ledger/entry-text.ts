/** Entries of the state as JSON text, for hashes of writes and for comparisons when blocks are checked. */
import type { Module, PactState } from '#language/contracts/machine/ast.ts'
import type { LayerEntry, Namespace } from '#language/contracts/machine/state.ts'
import type { Value } from '#language/contracts/values/value.ts'
import { TextWriter, writeEach, writeValue, writeValues } from '#language/contracts/values/wire.ts'

export function entryText(entry: LayerEntry): string {
  const writer = new TextWriter()
  writeEntry(writer, entry)
  return writer.text
}

/** Appends the text of an entry. @throws EvalError over the limit of the writer */
export function writeEntry(to: TextWriter, { domain, value }: LayerEntry): void {
  switch (domain) {
    case 'tables':
      to.put('true')
      break
    case 'counters':
      to.put(String(value))
      break
    case 'modules':
      to.quote((value as Module).hash)
      break
    case 'namespaces': {
      const { user, admin } = value as Namespace
      to.put('{"user":')
      writeValue(to, user)
      to.put(',"admin":')
      writeValue(to, admin)
      to.put('}')
      break
    }
    case 'pacts':
      writePact(to, value as PactState | null)
      break
    default:
      writeValue(to, value as Value)
  }
}

function writePact(to: TextWriter, pact: PactState | null): void {
  if (pact === null) {
    to.put('null')
    return
  }
  const { id, fun, args, step, yielded, nested } = pact
  to.put(`{"id":"${id}","fun":"${fun.qualified}","args":`)
  writeValues(to, args)
  to.put(`,"step":${step},"yield":`)
  if (yielded === null) to.put('null')
  else writeValue(to, yielded.data)
  to.put(',"nested":[')
  writeEach(to, nested.values(), writePact)
  to.put(']}')
}
