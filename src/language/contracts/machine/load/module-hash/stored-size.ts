/**
 * Size of a module as it is stored: its encoding with the places of its parts, and all that it depends on. Reading the
 * module costs by it.
 */
import type { DefinitionMeasure, Module } from '../../ast.ts'
import { CborWriter } from './cbor.ts'
import type { Dependencies } from './dependencies.ts'
import { measureEncoding, type PlaceEncoder } from './encode.ts'
import { ValueEncoder } from './encode-values.ts'
import { bytesOfHash } from './hash-text.ts'
import { moduleNameOf, type ResolvedModule } from './terms.ts'

/** A network stores the line of each part. */
const LINES: PlaceEncoder = (writer, { place }) => {
  writer.uint(Math.max(0, place.line))
}

/**
 * Measures a module that has its hash, and notes the size of each definition in its measure.
 * @param findModule finds the current version of another module
 */
export function measureStored(
  resolved: ResolvedModule,
  measures: ReadonlyMap<string, DefinitionMeasure>,
  dependencies: Dependencies,
  findModule: (name: string) => Pick<Module, 'hash'> | undefined,
): number {
  const { file } = resolved.module
  const place = file === null ? LINES : spansIn(file, resolved)
  const { all, definitions } = measureEncoding(resolved, findModule, place)
  for (const [name, measure] of measures) measure.stored = definitions.get(name) ?? 0
  const writer = new CborWriter().array(2).uint(0).map(dependencies.size)
  const values = new ValueEncoder(writer, () => new Uint8Array())
  let size = all
  for (const { module, name, measure } of dependencies.values()) {
    writer.array(3)
    values.encodeModuleName(moduleNameOf(module.name))
    writer.text(name).byteString(bytesOfHash(module.hash))
    size += measure.stored
  }
  size += writer.length
  // The version of the encoding, and the length of the bytes after it.
  return size + new CborWriter().uint(0).uint(size).length
}

/** The test runner stores the file, and where each part begins and ends. */
function spansIn(file: string, { module, from }: ResolvedModule): PlaceEncoder {
  const { code, place } = module
  const lines = [0]
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) lines.push(at + 1)
  return (writer, span) => {
    const end = span.to - from
    let [low, high] = [0, lines.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (lines[middle] <= end) low = middle
      else high = middle
    }
    const column = end - lines[low] + (low === 0 ? place.column : 0)
    writer.array(2).text(file).array(4)
    writer.uint(span.place.line).uint(span.place.column)
    writer.uint(place.line + low).uint(column)
  }
}
