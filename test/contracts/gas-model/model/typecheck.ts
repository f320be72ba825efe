/** Checks values against types, 25 milligas an item or field (Pact/Core/IR/Eval/Runtime/Utils.hs, gassedRuntimeTypecheck). */
import type { State } from './state.ts'
import type { Schema, Ty, Value } from './terms.ts'

const TICK = 25

export function checkType(state: State, ty: Ty, value: Value): boolean {
  if (ty.t === 'any') return true
  switch (value.v) {
    case 'modref': {
      if (ty.t !== 'modref') return false
      if (value.faces.length >= 10) state.charge(TICK * value.faces.length)
      return ty.faces.every((face) => value.faces.includes(face))
    }
    case 'list': {
      if (ty.t === 'any-list') return true
      if (ty.t !== 'list') return false
      state.charge(TICK * value.items.length)
      // The check goes on after an item that does not fit.
      return value.items.map((item) => checkType(state, ty.of, item)).every(Boolean)
    }
    case 'object':
      if (ty.t === 'any-object') return true
      return ty.t === 'object' && checkFields(state, value.fields, ty.schema)
    case 'table':
      return ty.t === 'table' && sameSchemas(state, value.schema, ty.schema)
    case 'token':
      return false
    default:
      return ty.t === 'prim' && ty.p === value.v
  }
}

/** Fields are compared in their order, up to the first that does not fit. */
export function checkFields(state: State, fields: ReadonlyMap<string, Value>, schema: Schema): boolean {
  if (fields.size !== schema.fields.size) return false
  state.charge(TICK * fields.size)
  const types = [...schema.fields]
  return [...fields].every(([field, value], i) => field === types[i][0] && checkType(state, types[i][1], value))
}

/** Some of the fields (checkPartialSchema). */
export function checkSomeFields(state: State, fields: ReadonlyMap<string, Value>, schema: Schema): boolean {
  state.charge(TICK * fields.size)
  if (![...fields.keys()].every((field) => schema.fields.has(field))) return false
  const chosen = new Map([...schema.fields].filter(([field]) => fields.has(field)))
  return checkFields(state, fields, { name: schema.name, fields: chosen })
}

function sameSchemas(state: State, a: Schema, b: Schema): boolean {
  if (a.fields.size !== b.fields.size) return false
  state.charge(TICK * a.fields.size)
  const others = [...b.fields]
  return [...a.fields].every(([field, ty], i) => field === others[i][0] && sameTypes(state, ty, others[i][1]))
}

function sameTypes(state: State, a: Ty, b: Ty): boolean {
  if (a.t !== b.t) return false
  if (a.t === 'prim') return b.t === 'prim' && a.p === b.p
  if (a.t === 'list') return b.t === 'list' && sameTypes(state, a.of, b.of)
  if (a.t === 'object' || a.t === 'table') return 'schema' in b && sameSchemas(state, a.schema, b.schema)
  if (a.t === 'modref') return b.t === 'modref' && a.faces.join() === b.faces.join()
  return true
}
