import { randomUUID } from 'node:crypto';
import { isCancelled, RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/parse.ts';
import type { Link } from '../../calls/hooks/gate.ts';
import { isFilter, isHeard } from '../../calls/hooks/links.ts';
import { type AgentTools, agentTools, type DeclaredTools } from '../../calls/tool-call/agent-tool.ts';
import { requestOf } from '../../calls/tool-call/callable-tool.ts';
import { passText } from '../../calls/tool-call/result-texts.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { createHookContext, type HookContext } from '../../contract/turn.ts';
import type { Store } from '../../store/store.ts';
import { GIVEN_FOR_MS, type KeptAnswer, type Memo } from '../memo/memo.ts';
import { createHookIdentities, namesOfPrefixes } from '../memo/memo-key.ts';
import type { Caller, JudgeContext, ToolJudge } from '../ports.ts';
import type { ClientToolResult } from '../wire/codec.ts';
import { type RefusedCall, refuse } from '../wire/refusal.ts';
import {
  argsForHooks,
  type CallWaiting,
  denialText,
  isDecided,
  judgeCalls,
  mapCalls,
} from './judge-calls.ts';
import { endForgottenRuns, newRunId, openPendingRun, type PendingRunOptions } from './pending-run.ts';

interface ToolJudgeOptions extends WaitingOptions {
  readonly memo: Memo;
  readonly declared: DeclaredTools;
  /** The hooks that run on a caller's calls. Must return the same list for the same hooks. */
  readonly linksOf: (caller: Caller) => readonly Link[];
  /** Whether the store outlives the process, so that another process can decide. */
  readonly isDurable: boolean;
}

export function openToolJudge(options: ToolJudgeOptions): ToolJudge {
  const { memo, linksOf, declared, isDurable } = options;
  const identityOf = createChainIdentity(memo);
  const recalled = new WeakMap<JudgeContext['request'], RecalledAnswer>();
  return {
    judgeResults: async (context) => {
      const links = linksOf(context.caller);
      if (context.request.toolResults.length === 0) return context.request.payload.messages;
      return await judgeResults(context, {
        ...{ memo, links, tools: agentTools(declared, links), hookContext: hookContextOf(context) },
        identity: identityOf(links),
      });
    },
    recall: async (context) => {
      if (!(await memo.answers.mayHaveAny())) return undefined;
      const answer = await recallAnswer(memo, nameOfRequest(memo, context));
      if (answer !== undefined) recalled.set(context.request, answer);
      return answer?.body;
    },
    judgeCalls: async (answer, messages, context) => {
      const links = linksOf(context.caller);
      const kept = recalled.get(context.request);
      if (kept === undefined && !isJudged(links, declared)) return messages;
      let given = kept;
      const judged = await judgeCalls(answer, messages, context, {
        ...{ links, tools: agentTools(declared, links), hookContext: hookContextOf(context) },
        ...{ signal: context.signal, isUnattended: !isDurable },
        openWaiting: async () => {
          const runId = kept?.runId ?? newRunId();
          context.onWait?.(runId);
          const waiting = {
            runId,
            isRecalled: kept !== undefined,
            keep: async () => {
              given = await keepAnswer(answer.body, runId, context);
              return given.runId;
            },
          };
          return await openCallWaiting(waiting, context, options);
        },
      });
      if (given !== undefined) await endAnswer(given);
      return judged;
    },
  };

  async function keepAnswer(body: string, runId: string, context: JudgeContext): Promise<RecalledAnswer> {
    const name = nameOfRequest(memo, context);
    const kept = await memo.answers.keep(name, { runId, sealed: memo.key.seal(body, name) });
    return { name, runId: kept.runId, body };
  }

  async function endAnswer({ name, runId }: RecalledAnswer): Promise<void> {
    await memo.answers.end(name);
    const store = await options.openStore();
    const completed = { status: 'completed', at: Date.now() } as const;
    // A client may come back after a day, when its run has been ended as failed.
    if (!(await store.setRunStatus(runId, completed)))
      await store.setRunStatus(runId, { ...completed, reopens: true });
  }
}

function isJudged(links: readonly Link[], { tools, hasApprovals }: DeclaredTools): boolean {
  const isAsked = isHeard(links, 'before_execution') || isHeard(links, 'approval');
  return isAsked || hasApprovals || tools.values().some(({ approval }) => approval !== undefined);
}

/** The gateway has no sessions, so the context covers only the request. */
function hookContextOf({ request, model }: JudgeContext): HookContext {
  const { messages, round } = request.payload;
  const now = new Date().toISOString();
  return { ...createHookContext('gateway'), now, messages, round, host: { model } };
}

/** Foreign hooks depend on external settings, so their identity is valid in this process only. */
function createChainIdentity(memo: Pick<Memo, 'isShared'>): (links: readonly Link[]) => string {
  const identities = createHookIdentities(memo);
  const process = randomUUID();
  return (links) =>
    JSON.stringify(
      links.flatMap((link): unknown[] => {
        if ('group' in link) return [process, link.group.members.map(({ entry }) => entry)];
        const isJudge = isFilter(link) && link.kind === 'tool' && link.phases.includes('after_execution');
        return isJudge ? [identities.of(link.listener.port.binding)] : [];
      }),
    );
}

/** Names a request by its caller, endpoint, model and messages, but not by settings such as `stream`. */
function nameOfRequest(
  { key }: Pick<Memo, 'key'>,
  { caller, endpoint, model, request }: JudgeContext,
): string {
  const judge = JSON.stringify(['answer', endpoint, model, request.choices]);
  const owner = { keyId: caller.keyId ?? '', judge };
  return namesOfPrefixes(key, owner, request.payload).at(-1) ?? '';
}

interface RecalledAnswer {
  readonly name: string;
  readonly runId: string;
  readonly body: string;
}

/** Returns undefined if no response is saved or its time is over. Throws STORE_FAILED or SQLite's errors. */
async function recallAnswer({ key, answers }: Memo, name: string): Promise<RecalledAnswer | undefined> {
  const kept = await answers.find(name);
  if (kept === undefined) return undefined;
  const body = isOver(kept) ? undefined : key.open(kept.sealed, name);
  if (body !== undefined) return { name, runId: kept.runId, body };
  await answers.remove(name);
  return undefined;
}

function isOver({ endedAt }: KeptAnswer): boolean {
  return endedAt !== null && endedAt < Date.now() - GIVEN_FOR_MS;
}

interface StoreWaiter {
  next(due: number | undefined): Promise<void>;
  close(): void;
}

interface WaitingOptions extends PendingRunOptions {
  /** How long a response waits for a person, in milliseconds; 0 disables waiting. */
  readonly holdMs: number;
  readonly openWaiter: (store: Pick<Store, 'watch'>, signal: AbortSignal) => StoreWaiter;
  /** The page on which a person can decide a call, if the config has one. */
  readonly linkOf: (pending: string) => string | undefined;
}

interface AnswerWaiting {
  readonly runId: string;
  /** Saves the response before its calls. Resolves to the run that holds the calls of the saved response. */
  readonly keep: () => Promise<string>;
  readonly isRecalled: boolean;
}

async function openCallWaiting(
  { runId, keep, isRecalled }: AnswerWaiting,
  context: JudgeContext,
  options: WaitingOptions,
): Promise<CallWaiting> {
  const run = openPendingRun(runId, options);
  const known = isRecalled ? await run.list() : [];
  let isKept = isRecalled;
  return {
    runId,
    records: known,
    decide: async (calls, tell) => {
      if (!isKept) {
        const keptAs = await keep();
        isKept = true;
        // An equal request saved its response first, so that response counts.
        if (keptAs !== runId) {
          context.onWait?.(keptAs);
          throw pendingRefusal(await openPendingRun(keptAs, options).list(), options);
        }
      }
      const records = await run.add(calls, context, tell);
      // Cleanup runs in the background and retries with the next waiting call.
      void options
        .openStore()
        .then((store) => endForgottenRuns(store, Date.now() - GIVEN_FOR_MS), ignore)
        .catch(ignore);
      return records.every(isDecided) ? records : await hold(records, calls, { run, context, options });
    },
  };
}

const ignore = () => {};

async function hold(
  first: readonly PendingRecord[],
  calls: readonly PendingCall[],
  {
    run,
    context: { signal },
    options: { openStore, holdMs, openWaiter, linkOf },
  }: {
    readonly run: ReturnType<typeof openPendingRun>;
    readonly context: JudgeContext;
    readonly options: WaitingOptions;
  },
): Promise<readonly PendingRecord[]> {
  if (holdMs <= 0) throw pendingRefusal(first, { linkOf });
  // The monotonic clock is not affected by clock changes.
  const since = performance.now();
  const ids = new Set(calls.map(({ id }) => id));
  const waiter = openWaiter(await openStore(), signal);
  try {
    for (;;) {
      const records = (await run.list()).filter(({ id }) => ids.has(id));
      if (records.length === ids.size && records.every(isDecided)) return records;
      const leftMs = holdMs - (performance.now() - since);
      if (leftMs <= 0) throw pendingRefusal(records, { linkOf });
      const expiries = records.flatMap(({ ruling, expiresAt }) =>
        ruling === null && expiresAt !== null ? [expiresAt] : [],
      );
      await waiter.next(Math.min(Date.now() + leftMs, ...expiries));
    }
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'ABORTED') signal.throwIfAborted();
    throw error;
  } finally {
    waiter.close();
  }
}

function pendingRefusal(
  records: readonly PendingRecord[],
  { linkOf }: Pick<WaitingOptions, 'linkOf'>,
): RefusedCall {
  const open = records.filter(({ ruling }) => ruling === null);
  const said = open.map(({ id, tool, message }) => `Tool "${tool}" waits for a person (${id}): ${message}`);
  const how =
    open.length === 0
      ? 'An identical request already waits for a person.'
      : `Decide with ${open.map(({ id }) => `"signalbox pending approve ${id}"`).join(', ')}, or reject.`;
  const links = open.flatMap(({ id }) => linkOf(id) ?? []);
  const where = links.length === 0 ? [] : [`Or decide at ${links.join(', ')}`];
  return refuse(
    400,
    'pending_approval',
    [...said, how, ...where, 'Then send the same request again.'].join('\n'),
    {
      verdict: { verdict: 'ask', hook: open[0]?.hook ?? null, phase: 'before_execution' },
      details: { pending: open.map(toNotice) },
    },
  );
}

function toNotice({ id, tool, callId, reason, message, expiresAt }: PendingRecord) {
  const expires_at = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return { id, tool, call_id: callId, reason, message, expires_at };
}

interface ResultJudging {
  readonly memo: Pick<Memo, 'key' | 'marks'>;
  readonly links: readonly Link[];
  readonly tools: AgentTools;
  readonly identity: string;
  readonly hookContext: HookContext;
}

async function judgeResults(context: JudgeContext, judging: ResultJudging): Promise<readonly ChatMessage[]> {
  const { payload, toolResults } = context.request;
  if (toolResults.length === 0 || !isHeard(judging.links, 'after_execution')) return payload.messages;
  const contents = await mapCalls(judging.links, toolResults, (result) =>
    recallOrJudge(result, context, judging),
  );
  const changes = new Map<number, string>();
  for (const [at, { index, content }] of toolResults.entries()) {
    const given = contents[at];
    if (given !== undefined && given !== content) changes.set(index, given);
  }
  if (changes.size === 0) return payload.messages;
  return payload.messages.map((message, index) => {
    const content = changes.get(index);
    return content === undefined ? message : withContent(message, content);
  });
}

/** Each result is judged once. The outcome is stored under a name unique to this result of this call. */
async function recallOrJudge(
  result: ClientToolResult,
  context: JudgeContext,
  judging: ResultJudging,
): Promise<string> {
  const { memo, identity } = judging;
  const { callId, call, content, isError } = result;
  if (call === undefined) throw orphan(result, context);
  const tool = judging.tools(call.name);
  const parts = [
    identity,
    context.caller.keyId ?? '',
    callId,
    JSON.stringify([tool.name, tool.aliases ?? []]),
    call.args.text,
    `${isError}`,
    content,
  ];
  const name = memo.key.nameOf('result', ...parts);
  await memo.marks.load?.([name]);
  const known = memo.marks.find(name);
  const recalled = known === SAME ? content : known && memo.key.open(known, ...parts);
  if (recalled !== undefined) return recalled;
  const judged = await judgeResult({ ...result, call }, context, judging);
  if (judged.isSettled)
    memo.marks.keep([[name, judged.content === content ? SAME : memo.key.seal(judged.content, ...parts)]]);
  return judged.content;
}

const SAME = 'same';

interface JudgedResult {
  readonly content: string;
  readonly isSettled: boolean;
}

async function judgeResult(
  {
    callId,
    call,
    content,
    isError,
  }: ClientToolResult & { readonly call: NonNullable<ClientToolResult['call']> },
  { signal, onDecision }: JudgeContext,
  { links, tools, hookContext }: ResultJudging,
): Promise<JudgedResult> {
  const tool = tools(call.name);
  const request = requestOf({ tool, callId, toolUseId: callId }, argsOf(call));
  const shown = { text: content, error: isError ? content : '', latencyMs: 0 };
  const { decision, text } = await passText(
    links,
    request,
    isError ? shown : { ...shown, result: resultOf(content) },
    { call: callId, signal, hookContext },
  );
  if (isCancelled(decision.error)) signal.throwIfAborted();
  onDecision('after_execution', decision);
  const isSettled = decision.error === undefined;
  const { verdict, hook, reason, context } = decision;
  if (verdict !== 'allow' && verdict !== 'modify')
    return { content: denialText(call.name, hook, reason), isSettled };
  return { content: [text, ...context].join('\n'), isSettled };
}

/** Hooks judge the result even if the call's arguments are unreadable. */
function argsOf({ name, args }: { readonly name: string; readonly args: Json }): Json {
  try {
    return argsForHooks(name, args);
  } catch {
    return Json.from({ input: args });
  }
}

function resultOf(content: string): Json {
  const json = tryJson(content.trim());
  return json !== undefined && (isObject(json.value) || Array.isArray(json.value))
    ? json
    : Json.from(content);
}

function withContent(message: ChatMessage, content: string): ChatMessage {
  const { parts: _, tool_result: result, ...others } = message;
  const plain = result instanceof Json ? result.value : result;
  const { parts: __, ...kept } = isObject(plain) ? plain : {};
  return { ...others, role: message.role, content, tool_result: kept };
}

/** Without its call, a result's tool is unknown and no hook could judge it. */
function orphan({ index }: ClientToolResult, { request }: JudgeContext): RefusedCall {
  return refuse(
    400,
    'tool_result_unknown',
    'the result of a tool has no call in this request, so tool hooks cannot judge it',
    { param: request.places[index] },
  );
}
