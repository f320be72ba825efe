/** Hashes a second that a program says of itself, as a hexadecimal number; null: it is none. */
export function announcedRate(text: string): number | null {
  return /^(0x)?[0-9a-f]{1,64}$/i.test(text) ? Number(`0x${text.replace(/^0x/i, '')}`) : null
}
