import { RuntimeError } from '../../base/errors.ts';
import type { RunOptions, Runtime } from '../../runtime/runtime.ts';
import type { runs } from '../api/runs.ts';
import type { Handlers } from '../api/schema.ts';
import { unfit } from '../server.ts';

export const runsHandlers = ({ runtime }: { readonly runtime: Runtime }): Handlers<typeof runs> => ({
  'GET /runs': ({ query: { label, since, until, ...filter } }) =>
    runtime.runs.page({
      ...filter,
      labels: label && toLabels(label),
      since: toDate(since),
      until: toDate(until),
    }),
  'GET /runs/{id}': ({ params, query }) => runtime.runs.summary(params.id, toTexts(query)),
  'GET /runs/{id}/details': ({ params, query }) => runtime.runs.show(params.id, toTexts(query)),
  'GET /runs/{id}/document': ({ params }) => runtime.runs.document(params.id),
  'GET /runs/{id}/steps': ({ params, query: { max_characters, ...page } }) =>
    runtime.runs.pageSteps(params.id, { ...page, ...toTexts({ max_characters }) }),
  'POST /runs/{id}/cancel': async ({ params, body, caller }) => {
    const { run_id, status } = await runtime.runs.cancel(params.id, { by: caller.name, reason: body.reason });
    return { run_id, status };
  },
  'POST /runs/{id}/resume': async ({ params: { id } }) => {
    await begin(id, (options) => runtime.runs.resume(id, options));
    return { run_id: id };
  },
  'POST /runs/{id}/retry': async ({ params: { id }, body: { from } }) => {
    await begin(id, (options) => runtime.runs.retry(id, { ...options, from }));
    return { run_id: id };
  },
});

/** The run goes on after the answer. How it ends is in the store and in the log. */
async function begin(
  id: string,
  start: (options: RunOptions) => Promise<{ readonly status: string }>,
): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const end = start({ onBegin: begun.resolve }).then(({ status }) => {
    throw new RuntimeError('RUN_ENDED', `run ${id} is already ${status}`);
  });
  end.catch(begun.reject);
  await begun.promise;
}

function toLabels(pairs: readonly string[]): Record<string, string> {
  const labels = new Map(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  if (labels.size < pairs.length) throw unfit('label', 'has a key twice');
  return Object.fromEntries(labels);
}

function toTexts({ max_characters: most = 2_000 }: { readonly max_characters?: number | undefined }) {
  return most === 0 ? {} : { maxCharacters: most };
}

export function toDate(time: string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}
