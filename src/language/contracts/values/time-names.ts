/** English names and compound directives of time formats. */

export const MONTHS: readonly string[] =
  'January February March April May June July August September October November December'.split(' ')
export const WEEKDAYS: readonly string[] = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
/** Directives that abbreviate several others. */
export const COMPOUND: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Z %Y',
  r: '%I:%M:%S %p',
  X: '%H:%M:%S',
  x: '%m/%d/%y',
  R: '%H:%M',
  T: '%H:%M:%S',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
}
