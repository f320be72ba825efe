/**
 * All that is used of typebox, which has some 700 files: the build puts them into one (bundle.js), since reading them took
 * 0.25 s of processor time at every start.
 */
export type { Static, TLiteral, TObject, TSchema, TUnion } from 'typebox'
export { Type } from 'typebox'
export { Compile } from 'typebox/compile'
export { Errors } from 'typebox/schema'
export { Value } from 'typebox/value'
