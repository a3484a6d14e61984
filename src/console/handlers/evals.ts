import type { Shelf } from '../../runtime/runtime.ts';
import type { evals } from '../api/evals.ts';
import type { Handlers } from '../api/schema.ts';

export const evalsHandlers = (shelf: Shelf): Handlers<typeof evals> => ({
  'GET /evals/runs': async ({ query: { limit = 100, ...query } }) => await shelf.page({ ...query, limit }),
  'GET /evals/runs/{id}/report': async ({ params: { id }, query: { details = false }, caller }) => {
    const by = caller.scopes.has('evals:rate') ? caller.name : null;
    return await shelf.report(id, { by, hasDetails: details });
  },
  'GET /evals/runs/{id}/case': async ({ params: { id }, query }) => await shelf.case(id, query),
  'GET /evals/compare': async ({ query: { a, b } }) => await shelf.compare(a, b),
  'GET /evals/history': async ({ query }) => ({ runs: await shelf.history(query) }),
  'POST /evals/runs/{id}/ratings': async ({ params: { id }, body, caller }) =>
    await shelf.rate(id, { ...body, by: caller.name }),
  'DELETE /evals/runs/{id}/ratings': async ({ params: { id }, body, caller }) => {
    await shelf.unrate(id, { ...body, by: caller.name });
    return { removed: true };
  },
});
