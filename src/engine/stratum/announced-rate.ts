/**
 * Parses the hashrate that a program reports, a hexadecimal number.
 * @returns hashes per second, or null if the text is no such number
 */
export function announcedRate(text: string): number | null {
  return /^(0x)?[0-9a-f]{1,64}$/i.test(text) ? Number(`0x${text.replace(/^0x/i, '')}`) : null
}
