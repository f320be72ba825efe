/** Schema of a closed set of words. */
import { type TLiteral, type TUnion, Type } from './typebox.ts'

type Literals<Words extends readonly string[]> = { -readonly [At in keyof Words]: TLiteral<Words[At]> }

/** Builds the schema of a string that is one of these words. */
export function literals<const Words extends readonly [string, ...string[]]>(words: Words): TUnion<Literals<Words>> {
  return Type.Union(words.map((word) => Type.Literal(word))) as unknown as TUnion<Literals<Words>>
}
