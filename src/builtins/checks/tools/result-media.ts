import { isObject, Json, toPlain } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import { type EvalOutcome, type EvalToolCall, scored } from '../../../contract/eval.ts';
import type { ChatMessage } from '../../../contract/provider.ts';
import type { Check, CheckInput, ParamSpec } from '../check.ts';
import { judgedCallsOf, scopeParam } from './judged-calls.ts';
import { anyTool } from './tool-params.ts';

const chart = {
  name: 'chart',
  args: {},
  result: '[{"type":"image","media":{"mime_type":"image/png","url":"https://example.com/chart.png"}}]',
  error: '',
  index: 1,
};

export const toolResultHasMedia: Check = {
  type: 'tool_result_has_media',
  aliases: [],
  family: 'tools',
  summary:
    'Whether a result in the turn has media of the type. The check looks at the parts in its JSON text (alone, or as `parts` or `content`) and at the `parts` of its message.',
  range: '0 or 1',
  params: {
    tool: anyTool,
    media_type: {
      schema: { type: 'string', minLength: 1 },
      required: true,
      description: '`image`, `audio`, `video` or `document`, in any case.',
    },
    scope: scopeParam,
  },
  example: { params: { tool: 'chart', media_type: 'image' }, context: { tool_calls: [chart] }, score: 1 },
  run: (input) => scoreMedia(input, { wanted: input.params['media_type'], of: ({ type }) => type }),
};

const mimeType: ParamSpec = {
  schema: { type: 'string', minLength: 1 },
  aliases: ['media_type'],
  required: true,
  description: 'A MIME type such as `image/png`, in any case.',
};

export const toolResultMediaType: Check = {
  type: 'tool_result_media_type',
  aliases: [],
  family: 'tools',
  summary: 'Whether a result in the turn has media of the MIME type.',
  range: '0 or 1',
  params: { tool: anyTool, mime_type: mimeType, scope: scopeParam },
  example: { params: { mime_type: 'image/jpeg' }, context: { tool_calls: [chart] }, score: 0 },
  run: (input) => scoreMedia(input, { wanted: input.params['mime_type'], of: ({ mime }) => mime }),
};

interface MediaPart {
  readonly type: string;
  readonly mime: string;
}

function scoreMedia(
  input: CheckInput,
  { wanted, of }: { readonly wanted: unknown; readonly of: (part: MediaPart) => string },
): EvalOutcome {
  const calls = judgedCallsOf(input, 'tool');
  const found = [...new Set(calls.flatMap((call) => mediaOf(call, input.request.context.messages)).map(of))];
  const isFound = found.some((word) => word.toLowerCase() === String(wanted).toLowerCase());
  const data = Json.from({ wanted, found });
  if (isFound) return scored(1, `a result has ${wanted}`, data);
  const others = found.length === 0 ? 'no media' : found.join(', ');
  return scored(
    0,
    `no result has ${wanted}; found: ${others} in ${formatCount(calls.length, 'result')}`,
    data,
  );
}

function mediaOf(call: EvalToolCall, messages: readonly ChatMessage[]): MediaPart[] {
  return [...partsOfText(call.result), ...partsOfMessages(call, messages)]
    .filter(isObject)
    .flatMap(({ type, media, mimeType: bare }) => {
      if (typeof type !== 'string' || type === '' || type === 'text') return [];
      const mime = isObject(media) ? media['mime_type'] : bare;
      return [{ type, mime: typeof mime === 'string' ? mime : '' }];
    });
}

function partsOfText(result: string): readonly unknown[] {
  const value = tryParse(result);
  const parts: unknown = isObject(value) ? (value['parts'] ?? value['content'] ?? [value]) : value;
  return Array.isArray(parts) ? parts : [];
}

function partsOfMessages({ name, index }: EvalToolCall, messages: readonly ChatMessage[]): unknown[] {
  const after = messages[index]?.role === 'assistant' ? messages.slice(index + 1) : [];
  const end = after.findIndex(({ role }) => role !== 'tool');
  return after.slice(0, end === -1 ? after.length : end).flatMap((message) => {
    const { tool_result: answered, parts } = toPlain(message);
    return isObject(answered) && answered['name'] === name && Array.isArray(parts) ? parts : [];
  });
}
