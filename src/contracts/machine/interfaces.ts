/** Checks that a module implements an interface: the same functions with the same parameters, types and annotations. */
import { evalError } from '../errors.ts'
import { Fun, type Module } from './ast.ts'
import { isSameType } from './types.ts'

/** @throws EvalError if a member is missing or differs */
export function checkImplements(module: Module, face: Module): void {
  for (const [name, wanted] of face.definitions) {
    if (!(wanted instanceof Fun)) continue
    const own = module.get(name)
    if (!(own instanceof Fun) || own.kind !== wanted.kind) {
      throw evalError(
        `Interface member not implemented. Module ${module.name} does not implement interface ${face.name} member: ${name}`,
      )
    }
    if (!isSame(own, wanted)) {
      throw evalError(
        `Module ${module.name} does not correctly implement the function ${name} from the interface: ${face.name}`,
      )
    }
  }
}

function isSame(own: Fun, wanted: Fun): boolean {
  return (
    own.params.length === wanted.params.length &&
    wanted.params.every(({ type }, index) => type === null || isSameType(type, own.params[index].type)) &&
    (wanted.result === null || isSameType(wanted.result, own.result)) &&
    (own.managed === null) === (wanted.managed === null) &&
    own.isEvent === wanted.isEvent
  )
}
