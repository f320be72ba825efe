/**
 * Re-exports the used parts of typebox. The build bundles its 700 files into one (scripts/build/bundle.js), because loading them
 * takes 0.25 s of CPU time at every start.
 */
export type { Static, TLiteral, TObject, TSchema, TUnion } from 'typebox'
export { Type } from 'typebox'
export { Compile } from 'typebox/compile'
export { Errors } from 'typebox/schema'
export { Value } from 'typebox/value'
