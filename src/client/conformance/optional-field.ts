/** Optional fields of the schemas that are published with the cases. */
import { type TSchema, Type } from '#ground/schema/typebox.ts'

/** A copy of a schema for an optional field, with a description for editors and other programs. */
export function optionalField<T extends TSchema>(schema: T, description: string) {
  // By descriptor, because the library has properties that are not enumerable.
  const copy: unknown = Object.defineProperties({ description }, Object.getOwnPropertyDescriptors(schema))
  return Type.Optional(copy as T)
}
