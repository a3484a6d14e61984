import { isObject, Json } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/try-parse.ts';
import { isCancelled } from '../../calls/capability/cancellation.ts';
import { type Link, passGate } from '../../calls/hooks/gate.ts';
import { isHeard } from '../../calls/hooks/steps.ts';
import type { AgentTools } from '../../calls/tool-call/agent-tool.ts';
import { requestOf } from '../../calls/tool-call/callable-tool.ts';
import type { ToolHookResponse } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Memo } from '../memo/memo.ts';
import type { JudgeContext } from '../ports.ts';
import type { ClientToolResult } from '../wire/codec.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { argsForHooks } from './call-args.ts';
import { mapCalls } from './map-calls.ts';
import { denialText } from './told-decision.ts';

export interface ResultJudging {
  readonly memo: Pick<Memo, 'key' | 'marks'>;
  readonly links: readonly Link[];
  readonly tools: AgentTools;
  /** Of the hooks that judge results. */
  readonly identity: string;
  readonly hookContext: HookContext;
}

/** The messages of a request with what hooks made of the results in them; the very list when they changed nothing. */
export async function judgeResults(
  context: JudgeContext,
  judging: ResultJudging,
): Promise<readonly ChatMessage[]> {
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

/** A result is judged once: what became of it is remembered, under a name that only the same result of the same call has. */
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
  /** Whether a hook has decided, rather than failed. */
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
  const response: ToolHookResponse = {
    ...{ name: tool.name, call_id: callId, content, error: isError ? content : '', latency_ms: 0 },
    ...(!isError && { result: resultOf(content) }),
  };
  const { decision, event } = await passGate(
    links,
    { hook: 'tool', phase: 'after_execution', request, response },
    { call: callId, signal, hookContext },
  );
  if (isCancelled(decision.error)) signal.throwIfAborted();
  onDecision('after_execution', decision);
  const isSettled = decision.error === undefined;
  const { verdict, hook, reason, context } = decision;
  if (verdict !== 'allow' && verdict !== 'modify')
    return { content: denialText(call.name, hook, reason), isSettled };
  const passed = event.phase === 'after_execution' ? event.response.content : content;
  return { content: [passed, ...context].join('\n'), isSettled };
}

/** Of a call whose arguments cannot be read, hooks still judge the result. */
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

/** The message as a whole new one: its parts repeated the old text. */
function withContent(message: ChatMessage, content: string): ChatMessage {
  const { parts: _, tool_result: result, ...others } = message;
  const plain = result instanceof Json ? result.value : result;
  const { parts: __, ...kept } = isObject(plain) ? plain : {};
  return { ...others, role: message.role, content, tool_result: kept };
}

/** Without the call nobody knows which tool a result is of, so no hook could judge it. */
function orphan({ index }: ClientToolResult, { request }: JudgeContext): RefusedCall {
  return new RefusedCall({
    status: 400,
    code: 'tool_result_unknown',
    message: 'the result of a tool has no call in this request, so that the hooks of tools cannot judge it',
    param: request.places[index],
    isRetryable: false,
  });
}
