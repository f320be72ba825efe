import { networkInterfaces } from 'node:os'

/** An IPv4 address of this machine that is no loopback address; undefined: it has none. */
export function outerAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}
