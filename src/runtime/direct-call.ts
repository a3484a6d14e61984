import { isCancelled, RuntimeError, toFault } from '../base/errors.ts';
import { isObject } from '../base/json/json.ts';
import type { Link } from '../calls/hooks/gate.ts';
import { quorumOf, requireDecider, whyNoApprover } from '../calls/tool-call/approvals.ts';
import { makeCall, trackToolCall } from '../calls/tool-call/call.ts';
import { type CallableTool, type CallResult, readArgs } from '../calls/tool-call/callable-tool.ts';
import { type FinishedCallResult, toToolDocument } from '../calls/tool-call/document.ts';
import {
  type DecidedRecord,
  notifyPending,
  prepareDecidedCall,
  runCallLoop,
} from '../calls/tool-call/pending-call.ts';
import type { Approval, PendingCall } from '../contract/approval.ts';
import type { ToolDocument } from '../contract/document.ts';
import type { Emit } from '../contract/event.ts';
import { failed, nextCallId, type ToolFailed } from '../contract/tool.ts';
import { createHookContext, type HookContext } from '../contract/turn.ts';
import type { CallName, PendingDirectCall } from '../pipelines/run/direct-call-run.ts';
import type { CallOptions } from './api.ts';
import type { LazyStore } from './lazy-store.ts';
import type { BuildOf } from './worker/build.ts';

interface DirectCallContext {
  readonly store: LazyStore;
  readonly config: string;
  readonly emit: Emit;
  readonly buildOf: BuildOf;
  /**
   * Whether the store outlives the process; if not, a hook's verdict `ask` denies the call unless `approve` is given.
   */
  readonly isDurable: boolean;
  readonly find?: ((name: string) => CallableTool | undefined) | undefined;
  /** Scrubs the messages of a failure. */
  readonly clean: <Result>(document: Result) => Result;
  /** Throws the scrubbed error. */
  readonly fail: (thrown: unknown) => never;
}

interface CalledTool {
  readonly tool: CallableTool;
  readonly args: unknown;
}

type NamedOptions = CallOptions & { readonly name: CallName };

/**
 * Makes a call outside a pipeline. A pending call is stored as a run of its own. Undefined: another pending call is
 * stored under its name. Never rejects.
 */
export function callDirectly(
  directCall: DirectCallContext,
  called: CalledTool,
  options: NamedOptions,
): Promise<ToolDocument | undefined>;
export function callDirectly(
  directCall: DirectCallContext,
  called: CalledTool,
  options: CallOptions,
): Promise<ToolDocument>;
export function callDirectly(
  directCall: DirectCallContext,
  called: CalledTool,
  options: CallOptions & Partial<NamedOptions>,
): Promise<ToolDocument | undefined> {
  const { emit, isDurable, find, clean, fail } = directCall;
  const { tool, args } = called;
  const { callId = nextCallId(), approve, name, signal } = options;
  const make = () => {
    // Native hooks receive no session or turn for a direct call.
    const hookContext = tool.links.some(isGroup) ? contextOf(callId) : undefined;
    // A caller with an identity comes back for the outcome.
    const isUnattended = approve === undefined && name === undefined && !isDurable;
    const call = { tool, callId, signal, hookContext, find, isByHost: true, isUnattended };
    return makeCall(call, args, (made) => {
      const { outcome } = made;
      if (outcome.status === 'pending')
        return waitForPerson(directCall, { ...called, made, hookContext }, { ...options, callId }).then(
          clean,
          fail,
        );
      try {
        return clean(toDocument(made, outcome, options));
      } catch (thrown) {
        return fail(thrown);
      }
    });
  };
  const names = { tool: tool.name, callId };
  return trackToolCall(emit, names, make, (document) => document ?? { status: 'pending' });
}

async function waitForPerson(
  directCall: DirectCallContext,
  {
    tool,
    args,
    made,
    hookContext,
  }: CalledTool & { readonly made: CallResult; readonly hookContext: HookContext | undefined },
  {
    approve,
    signal,
    callId: id,
    wholeFaults,
    name,
  }: CallOptions & Partial<NamedOptions> & { readonly callId: string },
): Promise<ToolDocument | undefined> {
  const { find } = directCall;
  const context = { signal, hookContext, find };
  let approvalFailure: ToolFailed | undefined;
  const { directCallName } = await loadRuns();
  const [result = made] = await runCallLoop([{ name: directCallName, tool, args, callId: id }], {
    runId: id,
    runRound: (items, work) => Promise.all(items.map((item) => work(item, undefined))),
    make: async () => made,
    decide: async ([pending]) => {
      if (approve === undefined || pending === undefined) return undefined;
      // A tool that is pending again after an approval needs more than an approval.
      if (pending.previous !== null && pending.origin === 'tool') return undefined;
      const decided = await askForApproval(pending, tool, approve);
      if (decided === undefined || 'ruling' in decided) return decided && [decided];
      approvalFailure = decided;
      return undefined;
    },
    resume: async (call, decided) => await (await prepareDecidedCall(call, decided, context)).finish(),
  });
  const outcome = approvalFailure ?? result.outcome;
  if (outcome.status !== 'pending') return toDocument(result, outcome, { wholeFaults });
  return await storeCall(
    directCall,
    { tool, args: readArgs(tool.name, args), result, outcome, name },
    hookContext ?? contextOf(id),
  );
}

function isGroup(link: Link): boolean {
  return 'group' in link;
}

function contextOf(call: string): HookContext {
  return { ...createHookContext(call), now: new Date().toISOString() };
}

const loadRuns = async () => await import('../pipelines/run/direct-call-run.ts');

/** If a hook was cancelled, the call failed; no hook decided about it. */
function toDocument(
  { metadata, context }: Pick<FinishedCallResult, 'metadata' | 'context'>,
  outcome: FinishedCallResult['outcome'],
  options: Pick<CallOptions, 'wholeFaults'>,
): ToolDocument {
  const isCut = outcome.status === 'denied' && outcome.error !== undefined && isCancelled(outcome.error);
  return toToolDocument({ outcome: isCut ? failed(outcome.error) : outcome, metadata, context }, options);
}

async function askForApproval(
  pending: PendingCall,
  called: CallableTool,
  approve: NonNullable<CallOptions['approve']>,
): Promise<DecidedRecord | ToolFailed | undefined> {
  const { id, tool, callId, reason, message } = pending;
  // The callback stands for one person, so a call that needs several approvals stays pending.
  if (quorumOf(called) > 1) return undefined;
  try {
    const approval: unknown = await approve({ id, tool, callId, reason, message });
    if (approval === undefined) return undefined;
    requireApprovalRecord(approval);
    const refusal = whyNoApprover(called, approval.by);
    if (refusal !== undefined) throw refusal;
    const decision = { kind: 'approved', args: null, by: approval.by, reason: approval.reason } as const;
    return { ...pending, id: approval.id, ruling: decision, decidedAt: Date.now() };
  } catch (error) {
    return failed(toFault(error));
  }
}

function requireApprovalRecord(given: unknown): asserts given is Approval {
  const { id, decision, by, reason } = isObject(given) ? given : {};
  const texts = [id, by, reason].every((text) => typeof text === 'string');
  if (decision === 'approved' && texts) {
    requireDecider(by);
    return;
  }
  throw new RuntimeError('USAGE', '`approve` gave no approval, so the tool was not called', {
    hint: "Return {id, decision: 'approved', by, reason} to approve, or undefined to leave the call waiting.",
  });
}

async function storeCall(
  { store, config, emit, buildOf }: DirectCallContext,
  { tool, ...paused }: PendingDirectCall & Pick<CalledTool, 'tool'>,
  hookContext: HookContext,
): Promise<ToolDocument | undefined> {
  try {
    const { storePendingCall, toPendingOpened, toPendingCallDocument } = await loadRuns();
    const opened = await store.open();
    const build = opened.work && buildOf('');
    const record = await storePendingCall({ store: opened, config, build }, tool, paused);
    if (record === undefined) return undefined;
    emit(toPendingOpened(record));
    await notifyPending({ tool, callId: record.callId }, record, hookContext);
    return toPendingCallDocument(record);
  } catch (error) {
    return toToolDocument({ ...paused.result, outcome: failed(toFault(error)) });
  }
}
