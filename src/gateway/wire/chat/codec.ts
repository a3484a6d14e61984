import { randomUUID } from 'node:crypto';
import type { EndpointCodec, Substitute } from '../codec.ts';
import { formatOpenAiError, readOpenAiError } from '../openai-error.ts';
import { readChatAnswer } from './answer.ts';
import { readChatRequest } from './request.ts';
import { ChatStreamReader } from './stream-reader.ts';
import { ChatStreamWriter } from './stream-writer.ts';

/** `POST /v1/chat/completions`: https://platform.openai.com/docs/api-reference/chat, and what compatible servers add. */
export const chatCodec: EndpointCodec = {
  name: 'chat',
  readRequest: readChatRequest,
  readAnswer: readChatAnswer,
  readError: readOpenAiError,
  substitute,
  stream: {
    reader: (rules) => new ChatStreamReader(rules),
    writer: (request) => new ChatStreamWriter(request),
  },
  refusal: formatOpenAiError,
};

function substitute({ text, end }: Substitute, model: string): string {
  return JSON.stringify({
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.trunc(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: null,
        finish_reason: end === 'refused' ? 'content_filter' : 'stop',
      },
    ],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  });
}
