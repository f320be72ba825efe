/** The versions of Node that `npm run test:nodes` runs the tests with: the oldest that newcut supports, and the newest of each later line. */
export const nodeVersions: readonly string[] = ['20.19.0', '22.23.3', '24.21.0', '26.10.0']
