/** Re-exports the server framework, which the build bundles into one file (bundle.js): 300 files load slowly. */
export type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
export { fastify } from 'fastify'
