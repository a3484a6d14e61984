import { randomUUID } from 'node:crypto';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isObject, parseLossless } from '../../base/json/json.ts';
import { wrapModel } from '../wrapped-model.ts';

// Two packages parse the arguments of tool calls and write them again, which rounds long numbers. So
// `createExactFetch` marks such a number as a string, and `withExactInput` restores it in the result.

/** A fetch whose answers of JSON keep the digits of tool arguments, for `withExactInput` to find. */
export function createExactFetch(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (!response.ok || response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const body = isStream ? markEvents(response.body) : markNumbers(await response.text());
    const headers = new Headers(response.headers);
    // Neither is true of the new body.
    headers.delete('content-encoding');
    headers.delete('content-length');
    return new Response(body, { status: response.status, statusText: response.statusText, headers });
  };
}

/** The model; the numbers that its `createExactFetch` has marked get their original spelling. */
export function withExactInput(model: LanguageModelV4): LanguageModelV4 {
  return wrapModel(model, {
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      return { ...result, content: result.content.map(restorePart) };
    },
    wrapStream: async ({ doStream }) => {
      const result = await doStream();
      const restore = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(restorePart(part)),
      });
      return { ...result, stream: result.stream.pipeThrough(restore) };
    },
  });
}

const mark = `exact-${randomUUID()}:`;
const marked = new RegExp(`"${mark}([^"]*)"`, 'g');

function restorePart<P extends { readonly type: string }>(part: P): P {
  // Answers that fit a schema may come as the arguments of a call, and are given as a text.
  if (part.type === 'text' && 'text' in part && typeof part.text === 'string') {
    return part.text.includes(mark) ? { ...part, text: part.text.replaceAll(marked, '$1') } : part;
  }
  if (part.type === 'tool-call' && 'input' in part && typeof part.input === 'string') {
    return { ...part, input: part.input.replaceAll(marked, '$1') };
  }
  if (part.type === 'tool-input-delta' && 'delta' in part && typeof part.delta === 'string') {
    return { ...part, delta: part.delta.replaceAll(marked, '$1') };
  }
  return part;
}

function markEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array> {
  let rest = '';
  const lines = new TransformStream<string, string>({
    transform: (chunk, controller) => {
      const complete = `${rest}${chunk}`.split('\n');
      rest = complete.pop() ?? '';
      for (const line of complete) controller.enqueue(`${markLine(line)}\n`);
    },
    flush: (controller) => controller.enqueue(markLine(rest)),
  });
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(lines).pipeThrough(new TextEncoderStream());
}

function markLine(line: string): string {
  return line.startsWith('data:') ? `data: ${markNumbers(line.slice('data:'.length).trim())}` : line;
}

/** Matches text that may hold a number which a double cannot represent. */
const possiblyInexact = /\d[\d.]{15}|\d[eE][+-]?\d/;

function markNumbers(json: string): string {
  if (!possiblyInexact.test(json)) return json;
  try {
    return JSON.stringify(markTree(parseLossless(json), false));
  } catch {
    // What is no JSON is for the package to refuse.
    return json;
  }
}

/** `input` is Anthropic's word for the arguments of a call, `args` Gemini's. */
function markTree(value: unknown, isInput: boolean): unknown {
  if (Array.isArray(value)) return value.map((member) => markTree(member, isInput));
  if (!isObject(value)) return value;
  if (JSON.isRawJSON(value)) return isInput ? mark + value.rawJSON : value;
  const members = Object.entries(value).map(([key, member]) => [
    key,
    markTree(member, isInput || key === 'input' || key === 'args'),
  ]);
  return Object.fromEntries(members);
}
