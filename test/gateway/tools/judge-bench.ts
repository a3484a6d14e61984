import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Link } from '../../../src/calls/hooks/gate.ts';
import { indexNames } from '../../../src/calls/tool-call/agent-tool.ts';
import type { CallableTool } from '../../../src/calls/tool-call/callable-tool.ts';
import type { Decision } from '../../../src/contract/hook.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { openToolJudge } from '../../../src/gateway/judge/tool-judge.ts';
import { openMemo } from '../../../src/gateway/memo/open-memo.ts';
import type { JudgeContext } from '../../../src/gateway/ports.ts';
import type { EndpointName } from '../../../src/gateway/wire/codec.ts';
import { codecs } from '../../../src/gateway/wire/codecs.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';
import { openChangeWaiter } from '../../../src/pipelines/state/change-waiter.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { place } from '../memo/place.ts';

const rules = { opaque: new Set<string>(), references: new Set<string>(), redactsEmbeddings: false };

export interface JudgeBenchOptions {
  readonly links?: readonly Link[];
  readonly tools?: readonly CallableTool[];
  readonly holdMs?: number;
  readonly folder?: string;
}

export async function openJudgeBench(options: JudgeBenchOptions = {}) {
  const { links = [], tools = [], holdMs = 0, folder = mkdtempSync(join(tmpdir(), 'judge-')) } = options;
  const { config, env } = await place.of(folder);
  const store = await openStore(config, env);
  const memo = await openMemo(config, env);
  let isOpen = true;
  const close = async () => {
    if (isOpen) await memo.close();
    if (isOpen) await store.close();
    isOpen = false;
  };
  onTestFinished(close);
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  const judge = openToolJudge({
    ...{ memo, holdMs, openStore: async () => store, config: join(folder, 'runtime.yaml'), emit: () => {} },
    declared: {
      tools: named,
      byName: indexNames(named),
      approvalsOf: (_names, own) => own,
      hasApprovals: false,
    },
    ...{ linksOf: () => links, isDurable: true, openWaiter: openChangeWaiter, linkOf: () => undefined },
  });
  const decisions: [string, Decision][] = [];
  const contextOf = (
    body: object,
    caller: string | null = 'key_1',
    endpoint: EndpointName = 'chat',
  ): JudgeContext => ({
    caller: { keyId: caller, name: caller ?? '', models: undefined, hooks: undefined, hasBudget: false },
    endpoint,
    model: 'm',
    request: codecs[endpoint].readRequest(JSON.stringify({ model: 'm', ...body }), rules),
    signal: new AbortController().signal,
    onDecision: (phase, decision) => decisions.push([phase, decision]),
  });
  /** What the client gets for this request. `upstream` answers unless an answer is stored. */
  const call = async (body: object, upstream: object, context = contextOf(body)) => {
    try {
      const kept = await judge.recall(context);
      const answer = codecs[context.endpoint].readAnswer(
        kept ?? JSON.stringify(upstream),
        rules,
        context.request,
      );
      const judged = await judge.judgeCalls(answer, answer.messages, context);
      return { wasKept: kept !== undefined, body: JSON.parse(answer.write(judged)) };
    } catch (error) {
      if (error instanceof RefusedCall) return { refusal: error.refusal };
      throw error;
    }
  };
  const results = async (body: object, caller?: string): Promise<readonly ChatMessage[]> =>
    await judge.judgeResults(contextOf(body, caller));
  return { judge, store, memo, call, results, contextOf, decisions, close, folder };
}

export function toolCall(id: string, name: string, args: unknown) {
  return {
    id,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  };
}

export function answerWith(calls: readonly object[], content: string | null = null) {
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
  };
}

export const asking = { messages: [{ role: 'user', content: 'Pay back order 7.' }] };
