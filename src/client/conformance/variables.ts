/** Variables of a case: `$name` for a whole value, `${name.part}` inside a text. */
import { stringifyJson } from '#ground/base/json.ts'

export type Variables = Map<string, unknown>

/** A case that names a variable or a part that does not exist. */
export class UnknownVariable extends Error {
  constructor(reference: string) {
    super(`${reference} has no value here`)
    this.name = new.target.name
  }
}

const WHOLE = /^\$([a-zA-Z][\w-]*(?:\.[\w-]+)*)$/
const INSIDE = /\$\{([a-zA-Z][\w-]*(?:\.[\w-]+)*)\}/g

/**
 * Replaces references in a value, in keys of objects too. Texts that start with `$` and name no reference stay.
 * @throws UnknownVariable
 */
export function fillIn(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return fillText(value, variables)
  if (Array.isArray(value)) return value.map((item) => fillIn(item, variables))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => {
    const name = key.includes('${') ? String(fillText(key, variables)) : key
    return [name, fillIn(part, variables)]
  })
  return Object.fromEntries(entries)
}

function fillText(text: string, variables: Variables): unknown {
  const whole = WHOLE.exec(text)
  if (whole) return lookUp(whole[1], variables)
  return text.replace(INSIDE, (_, path: string) => {
    const value = lookUp(path, variables)
    return typeof value === 'string' ? value : stringifyJson(value)
  })
}

function lookUp(path: string, variables: Variables): unknown {
  const [name, ...parts] = path.split('.')
  if (!variables.has(name)) throw new UnknownVariable(`$${path}`)
  const value = partOf(variables.get(name), parts)
  if (value === undefined) throw new UnknownVariable(`$${path}`)
  return value
}

/** The part of a value at a path of keys and indexes; `-1` is the last item. @returns undefined if there is none */
export function partOf(value: unknown, path: readonly string[]): unknown {
  let part = value
  for (const key of path) {
    if (typeof part !== 'object' || part === null) return undefined
    if (Array.isArray(part)) part = part.at(Number(key))
    else part = Object.hasOwn(part, key) ? (part as Record<string, unknown>)[key] : undefined
  }
  return part
}
