/** Walks the imports between sources, for the tests of the design. */

/** All files that a file reaches by imports. It contains the file itself if that is part of a cycle. */
export function reached(graph: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const found = new Set<string>()
  const waiting = [...(graph.get(from) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    waiting.push(...(graph.get(next) ?? []))
  }
  return found
}
