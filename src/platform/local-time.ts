/** Local time of day. */

/**
 * Weekday (0 is Sunday) and minute of the day, in the time zone of this process.
 * @param unixMs Unix time in milliseconds
 */
export function localTime(unixMs: number): { readonly day: number; readonly minute: number } {
  const at = new Date(unixMs)
  return { day: at.getDay(), minute: at.getHours() * 60 + at.getMinutes() }
}
