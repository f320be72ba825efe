/** Flags that print the version. As the first word, they win over all that follow. */
export const versionFlags: readonly string[] = ['-v', '--version']
