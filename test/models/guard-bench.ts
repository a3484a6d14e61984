import type {
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { Json } from '../../src/base/json/json.ts';
import { type Link, passGate } from '../../src/calls/hooks/gate.ts';
import { applyReplace } from '../../src/calls/hooks/replace.ts';
import type { Decision, HookEvent } from '../../src/contract/hook.ts';
import { createGuard, type GuardOptions } from '../../src/models/guard/guard.ts';
import type { Fire, FireOptions, FireResult } from '../../src/models/guard/guard-outcome.ts';

type Part = LanguageModelV4StreamPart;

export const usage: LanguageModelV4Usage = {
  inputTokens: { total: 7, noCache: 7, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

export const finish: Extract<Part, { type: 'finish' }> = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'end_turn' },
  usage,
};

/** Runs real hooks, as the runtime does. */
export function fireLinks(links: readonly Link[]): Fire {
  return (event, options) => passGate(links, event, { call: 'call', ...options });
}

export type Say = (event: HookEvent, options: FireOptions) => Partial<Decision> | Promise<Partial<Decision>>;

/** Calls a function instead of a process. Its replacements are processed like real ones. */
export function fireHook(say: Say): Fire {
  return async (event, options): Promise<FireResult> => {
    const said = await say(event, options);
    const decision: Decision = {
      verdict: 'allow',
      hook: 'h',
      dialect: 'promptkit',
      reason: '',
      enforced: false,
      replace: null,
      result: null,
      context: [],
      abort: null,
      metadata: new Json('{}'),
      ...said,
    };
    const { replace } = decision;
    return { decision, event: replace === null ? event : applyReplace(event, replace).event };
  };
}

/** Returns another text, or undefined to deny. */
export type TextFilter = (text: string) => string | undefined;

export function fireOnText(filter: TextFilter): Fire {
  return fireHook((event) => {
    if (event.phase !== 'after_call') return {};
    const { message } = event.response;
    const text = filter(message.content);
    if (text === undefined) return { verdict: 'deny', reason: 'no such text' };
    if (text === message.content) return {};
    return { verdict: 'modify', replace: Json.from({ message: { ...message, content: text } }) };
  });
}

export interface StreamingModel {
  readonly model: MockLanguageModelV4;
  readonly pulled: () => number;
  readonly isCancelled: () => boolean;
}

/** Streams the parts on demand. A function is called in place of a part, and may throw or wait. */
export function streamingModel(parts: readonly (Part | (() => unknown))[]): StreamingModel {
  let pulled = 0;
  let isCancelled = false;
  const stream = () =>
    new ReadableStream<Part>(
      {
        pull: async (controller) => {
          const part = parts[pulled];
          pulled += 1;
          if (part === undefined) controller.close();
          else if (typeof part === 'function') await part();
          else controller.enqueue(part);
        },
        cancel: () => {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
  const model = new MockLanguageModelV4({
    provider: 'acme',
    modelId: 'm-1',
    doStream: async () => ({
      stream: stream(),
      request: { body: 'sent' },
      response: { headers: { a: 'b' } },
    }),
  });
  return { model, pulled: () => pulled, isCancelled: () => isCancelled };
}

export function answeringModel(result: Partial<LanguageModelV4GenerateResult>): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    provider: 'acme',
    modelId: 'm-1',
    doGenerate: { content: [], finishReason: finish.finishReason, usage, warnings: [], ...result },
  });
}

export const prompt: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
};

export function guarded(model: MockLanguageModelV4, options: GuardOptions) {
  return wrapLanguageModel({ model, middleware: createGuard(options) });
}

export async function readParts(
  model: MockLanguageModelV4,
  options: GuardOptions,
  call: LanguageModelV4CallOptions = prompt,
): Promise<Part[]> {
  const { stream } = await guarded(model, options).doStream(call);
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
}

export function textParts(chunks: readonly string[], id = '1'): Part[] {
  return [
    { type: 'text-start', id },
    ...chunks.map((delta): Part => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ];
}
