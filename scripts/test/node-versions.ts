/** Node versions of `npm run test:nodes`: the oldest supported, and the newest of each later line. */
export const nodeVersions: readonly string[] = ['20.19.0', '22.23.3', '24.21.0', '26.10.0']
