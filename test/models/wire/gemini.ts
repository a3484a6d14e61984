import { piecesOf, type Turn, type Wire } from './turn.ts';

/** https://ai.google.dev/api/generate-content */
export const gemini: Wire = {
  prefix: '/v1beta',
  isStream: ({ path }) => path.includes(':streamGenerateContent'),
  body: (turn, request, serial) => ({
    candidates: [
      {
        content: { role: 'model', parts: [...textParts(turn), ...callParts(turn)] },
        finishReason: finishOf(turn),
        index: 0,
      },
    ],
    usageMetadata: usageOf(turn),
    modelVersion: modelOf(request.path),
    responseId: `gem_${serial}`,
  }),
  events: (turn, request, serial) => {
    const head = { modelVersion: modelOf(request.path), responseId: `gem_${serial}` };
    const parts = [...textParts(turn), ...callParts(turn)];
    return (parts.length === 0 ? [{ text: '' }] : parts).map((part, index) => {
      const isLast = index >= parts.length - 1;
      const content = { role: 'model', parts: [part] };
      return {
        data: {
          candidates: [{ content, index: 0, ...(isLast && { finishReason: finishOf(turn) }) }],
          usageMetadata: usageOf(turn),
          ...head,
        },
      };
    });
  },
  error: (status, message) => ({ error: { code: status, message, status: words[status] ?? 'INTERNAL' } }),
  errorEvent: (message) => ({ data: { error: { code: 503, message, status: 'UNAVAILABLE' } } }),
};

const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function textParts(turn: Turn): object[] {
  return piecesOf(turn).map((text) => ({ text }));
}

function callParts({ toolCalls = [] }: Turn): object[] {
  return toolCalls.map(({ name, args }) => ({ functionCall: { name, args } }));
}

function finishOf({ finish = 'stop' }: Turn): string {
  return { stop: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY' }[finish];
}

function usageOf({ usage = { input: 10, output: 5 } }: Turn) {
  if (usage === null) return undefined;
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: (usage.input ?? 0) + (usage.output ?? 0),
  };
}

/** From `/v1beta/models/NAME:method`. */
function modelOf(path: string): string {
  return /models\/([^:]+):/.exec(path)?.[1] ?? '';
}
