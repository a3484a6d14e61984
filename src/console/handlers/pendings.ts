import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { PendingInfo } from '../../contract/approval.ts';
import type { Principal, Runtime } from '../../runtime/runtime.ts';
import type { pendings } from '../api/pendings.ts';
import type { BodyOf, Handlers } from '../api/schema.ts';
import { refusalOf, unfit } from '../server.ts';

type Given = BodyOf<(typeof pendings)['POST /pendings/{id}/decision']>;
type Shown = NonNullable<Parameters<Runtime['pending']['show']>[1]>;
type Deciding = Shown & { readonly caller: Principal };

export function pendingsHandlers({ runtime }: { readonly runtime: Runtime }): Handlers<typeof pendings> {
  const { pending: calls } = runtime;
  const decide = async (id: string, given: Given, { caller, ...shown }: Deciding): Promise<PendingInfo> => {
    const { decision, digest, args, reason = '', result } = given;
    const by = { by: caller.name, principal: caller.id, reason, digest };
    switch (decision) {
      case 'approve':
        await calls.approve(id, { ...by, ...(args !== undefined && { args }) });
        break;
      case 'reject':
        await calls.reject(id, by);
        break;
      case 'respond':
        await calls.respond(id, { ...by, result });
    }
    return await calls.show(id, shown);
  };
  return {
    'GET /pendings': async ({ query: { mine, since, max_characters = SHORT, ...filter }, caller }) =>
      await calls.page({
        ...{ ...filter, ...ownFilter({ mine, since }, caller) },
        ...(max_characters > 0 && { maxCharacters: max_characters }),
      }),
    'GET /pendings/counts': async ({ query: { mine, since, ...filter }, caller }) =>
      await calls.counts({ ...filter, ...ownFilter({ mine, since }, caller) }),
    'GET /pendings/{id}': async ({ params: { id } }) => await calls.show(id),
    'GET /pendings/{id}/conversation': async ({ params: { id }, query }) => {
      if (runtime.console.records.content)
        return await runtime.decisions.conversation({ pending: id, ...query });
      await calls.show(id);
      return { calls: [], dropped: 0 };
    },
    'POST /pendings/{id}/check': async ({ params: { id }, body: { args }, caller: { name } }) =>
      await calls.check(id, { by: name, ...(args !== undefined && { args }) }),
    'POST /pendings/{id}/decision': async ({ params: { id }, body, caller }) => {
      requireParts(body, '');
      return await decide(id, body, { caller }).catch(async (thrown: unknown) => {
        throw await withCall(thrown, id);
      });
    },
    'POST /pendings/decisions': async ({ body: { decisions }, caller }) => {
      for (const [at, given] of decisions.entries()) requireParts(given, `decisions[${at}].`);
      const results = [];
      // Whole, a thousand calls could be too long for an answer.
      const shown = decisions.length === 1 ? {} : { maxCharacters: SHORT };
      for (const { id, ...given } of decisions) {
        const result = await decide(id, given, { caller, ...shown }).then(
          (pending) => ({ id, status: 200, pending }),
          async (thrown: unknown) => {
            const { status, body } = refusalOf(await withCall(thrown, id, shown));
            return { id, status, ...body };
          },
        );
        results.push(result);
      }
      return { results };
    },
  };

  /** Adds the call as it is now to a conflict. */
  async function withCall(thrown: unknown, id: string, shown?: Shown): Promise<unknown> {
    if (refusalOf(thrown).status !== 409) return thrown;
    const { code, message, hint, details } = toRuntimeError(thrown);
    const pending = await calls.show(id, shown);
    return new RuntimeError(code, message, { hint, details: { ...details, pending }, cause: thrown });
  }
}

/** Longest text of a call in a list, in characters. */
const SHORT = 2_000;

function ownFilter(
  { mine, since }: { readonly mine?: boolean | undefined; readonly since?: string | undefined },
  { name }: Principal,
) {
  return {
    ...(mine === true && { by: name }),
    ...(since !== undefined && { since: new Date(since) }),
  };
}

/** Throws USAGE for members that the decision needs or does not have. */
function requireParts({ decision, args, reason = '', result }: Given, prefix: string): void {
  if (decision !== 'approve' && args !== undefined)
    throw unfit(`${prefix}args`, `is not part of ${decision}`);
  if (decision !== 'respond' && result !== undefined)
    throw unfit(`${prefix}result`, `is not part of ${decision}`);
  if (decision === 'respond' && result === undefined) throw unfit(`${prefix}result`, 'is required');
  if (decision === 'reject' && reason.trim() === '') throw unfit(`${prefix}reason`, 'is required');
}
