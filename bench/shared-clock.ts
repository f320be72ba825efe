/** A clock that all processes of a machine share. */

/** Milliseconds of the machine's monotonic clock; the zero is arbitrary. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
