import type { EndpointCodec } from '../codec.ts';
import { readCount, readMessagesAnswer } from './answer/answer.ts';
import { formatError, readErrorBody } from './answer/error-body.ts';
import { formatSubstitute } from './answer/substitute.ts';
import { readMessagesRequest } from './request/request.ts';
import { createStreamReader } from './stream/reader.ts';
import { createStreamWriter } from './stream/writer.ts';

/** `POST /v1/messages`: https://docs.anthropic.com/en/api/messages, checked against @anthropic-ai/sdk 1.12. */
export const messagesCodec: EndpointCodec = {
  name: 'messages',
  readRequest: readMessagesRequest,
  readAnswer: readMessagesAnswer,
  readError: readErrorBody,
  substitute: formatSubstitute,
  stream: { reader: createStreamReader, writer: createStreamWriter },
  refusal: formatError,
};

/** `POST /v1/messages/count_tokens`: what the model is asked is judged as for a call; the answer has figures. */
export const countTokensCodec: EndpointCodec = {
  name: 'count_tokens',
  readRequest: readMessagesRequest,
  readAnswer: readCount,
  readError: readErrorBody,
  refusal: formatError,
};
