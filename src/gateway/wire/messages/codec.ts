import type { EndpointCodec, WireAnswer } from '../codec.ts';
import { readErrorBody } from '../error-body.ts';
import { formatError, formatSubstitute, readCount, readMessagesAnswer } from './answer.ts';
import { readMessagesRequest } from './request.ts';
import { errorShape } from './shapes.ts';
import { MessagesStreamReader } from './stream-reader.ts';
import { createStreamWriter } from './stream-writer.ts';

/** `POST /v1/messages`: https://docs.anthropic.com/en/api/messages, checked against @anthropic-ai/sdk 1.12. */
export const messagesCodec: EndpointCodec = {
  name: 'messages',
  readRequest: readMessagesRequest,
  readAnswer: readMessagesAnswer,
  readError,
  substitute: formatSubstitute,
  stream: { reader: (rules) => new MessagesStreamReader(rules), writer: createStreamWriter },
  refusal: formatError,
};

/** `POST /v1/messages/count_tokens`: what the model is asked is judged as for a call; the answer has figures. */
export const countTokensCodec: EndpointCodec = {
  name: 'count_tokens',
  readRequest: readMessagesRequest,
  readAnswer: readCount,
  readError,
  refusal: formatError,
};

function readError(body: string): WireAnswer {
  return readErrorBody(body, errorShape);
}
