/** What the clock on the wall shows. */

/** Day of the week (0 is Sunday) and minute of the day in the time zone of this process, at a Unix time in milliseconds. */
export function localTime(unixMs: number): { readonly day: number; readonly minute: number } {
  const at = new Date(unixMs)
  return { day: at.getDay(), minute: at.getHours() * 60 + at.getMinutes() }
}
