/**
 * Checks that a module implements an interface. It has the same functions, capabilities and pacts. Names and types of
 * parameters, type of the result and annotation are the same too.
 */
import type { TextPlace } from '../../errors.ts'
import { FunctionDefinition, type Module, type Param } from '../ast.ts'
import { notImplemented, wronglyImplemented } from '../expand/load-errors.ts'
import { isSameType, typeSource } from '../types.ts'

/**
 * @param place of the module
 * @throws EvalError if a member is missing or differs
 */
export function checkImplements(module: Module, declaring: Module, place: TextPlace): void {
  for (const [name, wanted] of declaring.definitions) {
    if (!(wanted instanceof FunctionDefinition)) continue
    const own = module.get(name)
    const declared = `(${wanted.kind} ${signature(wanted)})`
    if (own === undefined) throw notImplemented(module.name, declaring.name, name, place)
    if (!(own instanceof FunctionDefinition) || own.kind !== wanted.kind) {
      throw wronglyImplemented(module.name, declaring.name, name, place, declared)
    }
    if (!isMarkedLike(own, wanted)) {
      throw wronglyImplemented(module.name, declaring.name, `: defcap mismatch for ${name}`, place, declared)
    }
    if (!isSame(own, wanted)) throw wronglyImplemented(module.name, declaring.name, name, place, declared)
  }
}

function isSame(own: FunctionDefinition, wanted: FunctionDefinition): boolean {
  return (
    own.params.length === wanted.params.length &&
    wanted.params.every(({ name, type }, index) => {
      const param = own.params[index]
      return param.name === name && isSameType(type, param.type)
    }) &&
    isSameType(wanted.result, own.result)
  )
}

/** `@managed` without a parameter in the interface allows every managed capability. */
function isMarkedLike(own: FunctionDefinition, wanted: FunctionDefinition): boolean {
  if (own.isEvent !== wanted.isEvent || (own.managed === null) !== (wanted.managed === null)) return false
  const by = wanted.managed?.by ?? null
  if (by === null) return true
  const ownBy = own.managed?.by ?? null
  const manager = ownBy?.manager ?? null
  return (
    ownBy !== null &&
    ownBy.param === by.param &&
    own.params[by.param]?.name === wanted.params[by.param].name &&
    manager?.name === by.name &&
    manager.module === own.module
  )
}

function signature({ name, params, result }: FunctionDefinition): string {
  const sourceOf = ({ name: own, type }: Param) => (type === null ? own : `${own}:${typeSource(type)}`)
  return `${sourceOf({ name, type: result })} (${params.map(sourceOf).join(' ')})`
}
