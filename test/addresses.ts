import { networkInterfaces } from 'node:os'

/** An IPv4 address of this machine other than loopback, or undefined if it has none. */
export function outerAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}
