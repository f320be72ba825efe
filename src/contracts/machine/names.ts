/** Qualified names: `module.member` and `namespace.module.member`. */

interface NameParts {
  readonly module: string
  readonly member: string
}

/** Cache limits. Programs use few names, and short ones. */
const MAX_KNOWN = 10_000
const MAX_KNOWN_CHARACTERS = 200
const known = new Map<string, NameParts | null>()

/**
 * Splits `ns.module.member` at the last dot.
 * @returns null if there is no dot
 */
export function splitName(name: string): NameParts | null {
  const before = known.get(name)
  if (before !== undefined) return before
  const dot = name.lastIndexOf('.')
  const parts = dot > 0 ? { module: name.slice(0, dot), member: name.slice(dot + 1) } : null
  if (name.length > MAX_KNOWN_CHARACTERS) return parts
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(name, parts)
  return parts
}
