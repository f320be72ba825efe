/** Extensions of the protocol that rigs ask for. */

/** Result of mining.configure: none of the extensions is for these networks. */
export function noExtensions([extensions]: readonly unknown[]): Readonly<Record<string, false>> {
  const names = Array.isArray(extensions) ? extensions.filter((name) => typeof name === 'string') : []
  return Object.fromEntries(names.slice(0, 8).map((name) => [name.slice(0, 64), false] as const))
}

/** Hashes a second that a program says of itself, as a hexadecimal number; null: it is none. */
export function announcedRate(text: string): number | null {
  return /^(0x)?[0-9a-f]{1,64}$/i.test(text) ? Number(`0x${text.replace(/^0x/i, '')}`) : null
}
