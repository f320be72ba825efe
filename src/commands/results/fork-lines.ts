/** Lines about the fork of a network that code runs on. */
import type { CodeComparison } from '#devnet/copy/compare-code.ts'
import { describeError } from '#ground/base/errors.ts'
import { showValue } from '#language/contracts/values/print.ts'
import { type Pin, pinText } from '#language/copy/pin.ts'
import type { RemoteNode } from '#language/copy/remote-node.ts'

/** The pin, and the flag for the same fork again. */
export function forkLine(pin: Pin, chain: number): string {
  return `${describePin(pin, chain)}; again: --fork-cut '${pinText(pin)}'`
}

/** The pin, and the form of a test file for the same fork again. @param url of the node, as the test file has it */
export function envForkLine(pin: Pin, chain: number, url: string): string {
  return `${describePin(pin, chain)}; again: (env-fork ${showValue(url)} {"cut": ${pinText(pin)}})`
}

const describePin = ({ network, height }: Pin, chain: number) =>
  `fork of ${network} at height ${height}, chain ${chain}`

/** The requests of a fork. */
export const costLine = ({ url, requests }: RemoteNode): string => `requests to ${url}: ${requests}`

/** The differences, what does not load, and the sum. */
export function comparisonLines({ cases, equal, differences, unloaded }: CodeComparison): string[] {
  const lines = differences.flatMap(({ code, here, there }) => {
    const parts = (['status', 'gas', 'result', 'events'] as const).filter((part) => here[part] !== there[part])
    return [`DIFFERS ${code}`, ...parts.map((part) => `  ${part} here ${here[part]}, there ${there[part]}`)]
  })
  return [
    ...unloaded.map((why) => `NOT LOADED ${describeError(new Error(why))}`),
    ...lines,
    `${equal} of ${cases} equal, ${differences.length} different, ${unloaded.length} modules not loaded`,
  ]
}
