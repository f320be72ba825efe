/** Names in code and types that may be members of other modules, and the modules that they may mean. */
import type { Form, TypeForm } from './form.ts'

/** All names of atoms and types in these forms, each once. Bare names of code are left out: they are not members. */
export function namesIn(forms: readonly (Form | undefined)[]): string[] {
  const found = new Set<string>()
  for (const form of forms) if (form !== undefined) collect(form, found)
  return [...found]
}

function collect(form: Form, found: Set<string>): void {
  switch (form.form) {
    case 'atom':
      if (form.name.includes('.')) found.add(form.name)
      collectType(form.type, found)
      return
    case 'list':
    case 'call':
      for (const item of form.items) collect(item, found)
      return
    case 'object':
      for (const [, value] of form.fields) collect(value, found)
      return
    case 'binding':
      for (const [, variable] of form.fields) collect(variable, found)
  }
}

function collectType(type: TypeForm | null, found: Set<string>): void {
  if (type?.type === 'list') collectType(type.item, found)
  else if (type?.type === 'object' || type?.type === 'table') {
    if (type.schema?.includes('.')) found.add(type.schema)
  } else if (type?.type === 'module') for (const name of type.interfaces) found.add(name)
}

/** Modules that a written name of a module may mean, the likeliest first: the root comes before the own namespace. */
export function modulesNamed(written: string, namespace: string | null): string[] {
  return written.includes('.') || namespace === null ? [written] : [written, `${namespace}.${written}`]
}

/** Modules that a dotted name in code may mean or be a member of. */
export function modulesMentioned(name: string, namespace: string | null): string[] {
  const parts = name.split('.')
  if (parts.length === 1) return modulesNamed(name, namespace)
  if (parts.length === 2) return [...modulesNamed(parts[0], namespace), name]
  return [`${parts[0]}.${parts[1]}`]
}
