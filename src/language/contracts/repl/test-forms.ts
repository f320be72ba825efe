/** Kinds of files and forms. */
import type { Form } from '../syntax/form.ts'

/** Name of the module or interface that a form declares, or null. */
export function moduleIn(form: Form): string | null {
  if (form.form !== 'call') return null
  const [head, name] = form.items
  const isModule = head?.form === 'atom' && (head.name === 'module' || head.name === 'interface')
  return isModule && name?.form === 'atom' ? name.name : null
}

/** True for a file of contracts, which tests load and networks run. */
export function isContract(file: string): boolean {
  return file.endsWith('.pact')
}
