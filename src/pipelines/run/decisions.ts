import { RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { agentTools, type DeclaredTools } from '../../calls/tool-call/agent-tool.ts';
import {
  choicesOf,
  findAnswerFaults,
  notApprovable,
  type PendingDecisionInput,
  peopleAsked,
  quorumOf,
  requireDecision,
  whyNoApprover,
  whyNotAsked,
  whyNotForQuorum,
} from '../../calls/tool-call/approvals.ts';
import { checkResult } from '../../calls/tool-call/call.ts';
import { type CallableTool, readCheckedArgs, readGivenArgs } from '../../calls/tool-call/callable-tool.ts';
import {
  isQuestion,
  type PendingCheck,
  type PendingChoice,
  type PendingDecision,
  type PendingDocument,
  type PendingRecord,
} from '../../contract/approval.ts';
import { ok } from '../../contract/tool.ts';
import type { PlacedPending, Store } from '../../store/store.ts';
import { GATEWAY_RUN } from '../../store/store-rules.ts';
import { digestOfPending, toPendingDocument } from './document.ts';

export interface DecisionContext extends Declared {
  readonly store: Store;
}

interface Declared {
  readonly declared: Omit<DeclaredTools, 'hasApprovals'>;
  /** An agent runs the tool itself, so the config need not declare it. */
  readonly isOfAgent?: boolean | undefined;
}

/**
 * Edited arguments are checked against the tool's schema now and pass its hooks on resume. Throws USAGE, RUN_UNKNOWN,
 * ARGS_INVALID, PENDING_DECIDED, PENDING_EXPIRED, PENDING_CHANGED, OWN_CALL, STORE_FAILED.
 */
export async function approve(
  context: DecisionContext,
  id: string,
  decision: PendingDecisionInput & { readonly args?: unknown },
): Promise<PendingDocument> {
  const input = requireDecision(decision);
  const { by, reason, args } = input;
  const seen = await requireDecidable(context, id, input);
  return await decide(context.store, seen, { ...readApproval(context, seen.record, args), by, reason });
}

/** Throws USAGE, ARGS_INVALID. */
function readApproval(context: Declared, record: PendingRecord, args: unknown) {
  requireOwnQuorum(context, record);
  if (isQuestion(record)) throw notApprovable(record);
  const tool = args === undefined ? undefined : requireTool(context, record);
  const edited = tool && readCheckedArgs(tool, readGivenArgs(tool.name, args), true);
  return { kind: 'approved', args: edited ?? null } as const;
}

/**
 * Says what `approve` would do with an open or decided call, and writes nothing. Without `by`, the person is one who may
 * decide and has not approved. `now`: the time of the store, ms since 1970.
 */
export function checkApproval(
  context: Declared,
  record: PendingRecord,
  { args, by, now }: { readonly args?: unknown; readonly by?: string | undefined; readonly now: number },
): PendingCheck {
  const { id, quorum: needed = 1, consents = [] } = record;
  const isDue = record.ruling === null && record.expiresAt !== null && record.expiresAt <= now;
  const decided: PendingRecord = isDue
    ? { ...record, ruling: { kind: 'expired' }, decidedAt: record.expiresAt }
    : record;
  if (decided.ruling !== null) {
    const error = lost(decided);
    return { id, outcome: decided.ruling.kind === 'expired' ? 'expired' : 'decided', error: toFault(error) };
  }
  const names = consents.map((consent) => consent.by);
  const approvals = { given: names.length, needed };
  try {
    if (by !== undefined) requireMayDecide(context, record, by);
    const approval = readApproval(context, record, args);
    const refusal = whyNotForQuorum(record, { ...approval, by: '', reason: '' });
    if (refusal !== undefined) throw refusal;
  } catch (error) {
    return { ...refusedCheck(id, error), approvals };
  }
  const isCounted = by !== undefined && names.includes(by);
  const given = names.length + (isCounted ? 0 : 1);
  return { id, outcome: given < needed ? 'needs_approvals' : 'resumes', approvals };
}

/** The check of a call that `approve` would refuse with this error. Throws any error that is not about the call. */
export function refusedCheck(id: string, thrown: unknown): PendingCheck {
  const error = toFault(thrown);
  const outcome = outcomes.get(error.code);
  if (outcome === undefined) throw thrown;
  return { id, outcome, error };
}

const outcomes: ReadonlyMap<string, PendingCheck['outcome']> = new Map([
  ['RUN_UNKNOWN', 'unknown'],
  ['ARGS_INVALID', 'args_invalid'],
  ['USAGE', 'refused'],
  ['NAME_UNKNOWN', 'refused'],
]);

/** The people who may decide; undefined: anyone with a name. */
export function decidersOf(
  declared: Declared['declared'],
  record: PendingRecord,
): readonly string[] | undefined {
  return isQuestion(record) ? peopleAsked(record) : toolOf(declared, record.tool).approval?.by;
}

/** What people can do with the call, by the config that is open now. */
export function choicesNow(context: Declared, record: PendingRecord): readonly PendingChoice[] {
  if (record.ruling !== null) return [];
  if (isQuestion(record)) return choicesOf(record);
  const isPossible = (check: () => unknown) => {
    try {
      check();
      return true;
    } catch {
      return false;
    }
  };
  const canApprove = isPossible(() => requireOwnQuorum(context, record));
  const hasTool = isPossible(() => requireTool(context, record));
  const quorum = Math.max(record.quorum ?? 1, quorumOf(toolOf(context.declared, record.tool)));
  return choicesOf({ ...record, quorum }).filter((choice) => {
    if (choice === 'reject') return true;
    return (hasTool || choice === 'approve') && (canApprove || choice === 'respond');
  });
}

/** Whether this person may decide about calls of the tool. Questions say themselves who may answer. */
export function mayDecide(declared: Declared['declared'], tool: string, by: string): boolean {
  return isQuestion({ tool }) || whyNoApprover(toolOf(declared, tool), by) === undefined;
}

/** The call fails with REJECTED. Throws the errors of `approve`. */
export async function reject(
  context: DecisionContext,
  id: string,
  decision: PendingDecisionInput,
): Promise<PendingDocument> {
  const input = requireDecision(decision);
  const { by, reason } = input;
  const seen = await requireDecidable(context, id, input);
  return await decide(context.store, seen, { kind: 'rejected', by, reason });
}

/**
 * Checks the result against the output schema; hooks run on resume. Throws RESULT_INVALID and the errors of `approve`.
 */
export async function respond(
  context: DecisionContext,
  id: string,
  decision: PendingDecisionInput & { readonly result: unknown },
): Promise<PendingDocument> {
  const input = requireDecision(decision);
  const { by, reason, result } = input;
  const seen = await requireDecidable(context, id, input);
  const { record } = seen;
  if (result === undefined) throw new RuntimeError('USAGE', 'the answer has no `result`');
  const json = Json.from(result);
  if (isQuestion(record)) {
    const faults = findAnswerFaults(record, json);
    if (faults.length > 0) {
      const message = `the answer does not fit the schema of the question: ${faults.join('; ')}`;
      throw new RuntimeError('RESULT_INVALID', message, {
        hint: `\`signalbox pending show ${record.id}\` shows the schema; the question stays open.`,
      });
    }
    return await decide(context.store, seen, { kind: 'responded', result: json, by, reason });
  }
  const checked = checkResult(requireTool(context, record), ok(json));
  if (checked.status === 'failed' && checked.result === undefined) {
    const { message, hint } = checked.error;
    throw new RuntimeError('RESULT_INVALID', message, { hint });
  }
  return await decide(context.store, seen, { kind: 'responded', result: json, by, reason });
}

/** The call that the person decides about. `isExact`: it must not have changed since. */
interface Seen {
  readonly record: PendingRecord;
  readonly isExact: boolean;
}

async function requireDecidable(
  context: DecisionContext,
  id: string,
  { by, digest, principal }: PendingDecisionInput,
): Promise<Seen> {
  const record = await requirePending(context.store, id);
  if (principal !== undefined) {
    const [placed] = await context.store.pagePendings({ id, limit: 1 }, Date.now());
    if (placed !== undefined) requireOther(placed, { by, principal });
  }
  requireMayDecide(context, record, by);
  if (digest !== undefined && digest !== digestOfPending(record)) throw lost(record);
  return { record, isExact: digest !== undefined };
}

/**
 * Throws OWN_CALL if the credential made the call. The user of this machine has none, and a gateway keeps the name of
 * its key, which is unique.
 */
function requireOther(
  { record, run, caller, principal: made }: PlacedPending,
  { by, principal }: { readonly by: string; readonly principal: string },
): void {
  const { caller: key, session } = isObject(caller?.value) ? caller.value : {};
  const isOf = (text: unknown) =>
    typeof text === 'string' && (text === principal || text.startsWith(`[${JSON.stringify(principal)},`));
  const isOwn = isOf(made) || (caller !== null && (run.name === GATEWAY_RUN ? key === by : isOf(session)));
  if (!isOwn || principal === LOCAL_USER) return;
  throw new RuntimeError(
    'OWN_CALL',
    `${record.id} (tool "${record.tool}") was called with the key of "${by}"`,
  );
}

/** The ID of everybody without a credential, who is the user of this machine. */
const LOCAL_USER = 'local';

function requireMayDecide({ declared }: Declared, record: PendingRecord, by: string): void {
  const refusal = isQuestion(record)
    ? whyNotAsked(record, by)
    : whyNoApprover(toolOf(declared, record.tool), by);
  if (refusal !== undefined) throw refusal;
}

/** Throws RUN_UNKNOWN, STORE_FAILED. */
export async function requirePending(store: Store, id: string): Promise<PendingRecord> {
  const record = typeof id === 'string' ? await store.findPending(id, Date.now()) : undefined;
  if (record !== undefined) return record;
  throw unknownPending(store, id);
}

export function unknownPending(store: Store, id: string): RuntimeError {
  return new RuntimeError('RUN_UNKNOWN', `there is no pending call "${id}" in ${store.location}`, {
    hint: '`signalbox pending list` shows the calls that wait. For those of another config, name it with --config FILE.',
  });
}

function requireTool({ declared, isOfAgent }: Declared, { tool: name }: PendingRecord): CallableTool {
  if (isOfAgent === true || declared.tools.has(name)) return toolOf(declared, name);
  throw new RuntimeError('NAME_UNKNOWN', `there is no tool "${name}" any more`);
}

/** Approvals may exist for a tool that is no longer declared. */
function toolOf(declared: Declared['declared'], name: string): CallableTool {
  return declared.tools.get(name) ?? agentTools(declared, [])(name);
}

/** Throws USAGE if the config now requires more approvers than when the call began to wait. */
function requireOwnQuorum({ declared }: Declared, { id, tool: name, quorum = 1 }: PendingRecord): void {
  const needed = quorumOf(toolOf(declared, name));
  if (needed <= quorum) return;
  const message = `tool "${name}" now needs ${needed} approvals, but ${id} was created when it needed ${quorum}`;
  throw new RuntimeError('USAGE', message, { hint: 'Reject it, and repeat the call.' });
}

async function decide(
  store: Store,
  { record, isExact }: Seen,
  decision: Exclude<PendingDecision, { kind: 'expired' }>,
): Promise<PendingDocument> {
  const { id, quorum = 1, consents = [] } = record;
  const others = consents.filter(({ by }) => by !== decision.by).length;
  const refusal = whyNotForQuorum(record, decision);
  if (refusal !== undefined) throw refusal;
  const decided = await store.decide(id, decision, Date.now(), isExact && quorum > 1 ? others : undefined);
  if (decided === undefined) return toPendingDocument(await requirePending(store, id));
  if (decided.isAccepted) return toPendingDocument(decided.record);
  throw lost(decided.record);
}

function lost(record: PendingRecord): RuntimeError {
  const { id, tool, ruling } = record;
  const details = { decision: toPendingDocument(record) };
  if (ruling?.kind === 'expired') {
    return new RuntimeError('PENDING_EXPIRED', `${id} (tool "${tool}") has expired`, { details });
  }
  if (ruling === null) {
    const names = (record.consents ?? []).map(({ by }) => by).join(', ');
    const now = names === '' ? 'nobody has approved it' : `${names} approved it`;
    const message = `${id} (tool "${tool}") has changed since it was shown: ${now}, and it waits for more`;
    return new RuntimeError('PENDING_CHANGED', message, { details });
  }
  const by = 'by' in ruling && ruling.by !== '' ? ` by ${ruling.by}` : '';
  const message = `${id} (tool "${tool}") has already been ${ruling.kind}${by}`;
  return new RuntimeError('PENDING_DECIDED', message, { details });
}
