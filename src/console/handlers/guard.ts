import type { Runtime } from '../../runtime/runtime.ts';
import type { guard } from '../api/guard.ts';
import type { Handlers } from '../api/schema.ts';
import { toDate } from './runs.ts';

export const guardHandlers = ({ runtime }: { readonly runtime: Runtime }): Handlers<typeof guard> => ({
  'GET /decisions': ({ query }) => runtime.decisions.page(withTime(query)),
  'GET /decisions/counts': ({ query }) => runtime.decisions.counts(withTime(query)),
  'GET /audit': ({ query }) => runtime.audit.page({ ...query, since: toDate(query.since) }),
});

function withTime<Query extends { readonly since?: string | undefined; readonly until?: string | undefined }>(
  query: Query,
) {
  return { ...query, since: toDate(query.since), until: toDate(query.until) };
}
