/** JSON text of module names, of tables and of the types in their schemas. */
import { inWireOrder } from './field-order.ts'
import { type TextWriter, writeEach } from './text-writer.ts'
import type { RowSchema, TableRef, Type } from './value.ts'

/**
 * Appends the JSON of a module name: `{"namespace":null,"name":"coin"}`.
 * @throws EvalError over the limit of the writer
 */
export function writeModule(to: TextWriter, name: string): void {
  const dot = name.indexOf('.')
  // Only `namespace.name` has two parts.
  const isQualified = dot > 0 && dot < name.length - 1 && name.indexOf('.', dot + 1) < 0
  to.put('{"namespace":')
  if (isQualified) to.quote(name.slice(0, dot))
  else to.put('null')
  to.put(',"name":')
  to.quote(isQualified ? name.slice(dot + 1) : name)
  to.put('}')
}

/**
 * Appends the JSON of a table with its schema. A table without schema has `null`; the network has no such tables.
 * @throws EvalError over the limit of the writer
 */
export function writeTable(to: TextWriter, { module, name, hash, schema }: TableRef): void {
  to.put('{":tableName":')
  to.quote(`${module}:${name}`)
  to.put(',":moduleHash":')
  to.quote(hash)
  to.put(',":schema":')
  writeSchema(to, schema)
  to.put('}')
}

const ANY: Type = { type: 'any' }

function writeSchema(to: TextWriter, schema: RowSchema | null): void {
  if (schema === null) {
    to.put('null')
    return
  }
  to.put('{"sc_name":')
  to.quote(schema.qualified)
  to.put(',"sc_fields":{')
  to.expectRoom(schema.fields.size)
  writeEach(to, inWireOrder(schema.fields), (_, [field, type]) => {
    to.quote(field)
    to.put(':')
    writeType(to, type)
  })
  to.put('}}')
}

function writeType(to: TextWriter, declared: Type | null): void {
  const type = declared ?? ANY
  switch (type.type) {
    case 'any':
      to.put('"*"')
      return
    case 'keyset':
      to.put('"guard"')
      return
    case 'list':
      // A list of anything has no type of its items.
      if (type.item === null || type.item.type === 'any') to.put('"list"')
      else {
        to.put('{"tylist":')
        writeType(to, type.item)
        to.put('}')
      }
      return
    case 'object':
    case 'table':
      if (type.schema === null) to.put(`"${type.type}"`)
      else {
        to.put(`{"ty${type.type}":`)
        writeSchema(to, type.schema)
        to.put('}')
      }
      return
    case 'module':
      to.put('{"tymodref":[')
      writeEach(to, [...new Set(type.interfaces)].sort(), writeModule)
      to.put(']}')
      return
    default:
      to.quote(type.type)
  }
}
