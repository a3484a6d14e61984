import { chatCodec } from './chat/codec.ts';
import type { EndpointCodec, EndpointName } from './codec.ts';
import { embeddingsCodec } from './embeddings/codec.ts';
import { formatOpenAiError, readOpenAiError } from './error-body.ts';
import { countTokensCodec, messagesCodec } from './messages/codec.ts';
import { formatSubstitute, readAnswer } from './responses/answer.ts';
import { readRequest } from './responses/request.ts';
import { ResponsesStreamReader } from './responses/stream-reader.ts';
import { ResponsesStreamWriter } from './responses/stream-writer.ts';

/** `POST /v1/responses`, from the types of the openai package. */
export const responsesCodec: EndpointCodec = {
  name: 'responses',
  readRequest,
  readAnswer,
  readError: readOpenAiError,
  substitute: formatSubstitute,
  stream: {
    reader: (rules, request) => new ResponsesStreamReader(rules, request),
    writer: (request) => new ResponsesStreamWriter(request),
  },
  refusal: formatOpenAiError,
};

export const codecs: Readonly<Record<EndpointName, EndpointCodec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  count_tokens: countTokensCodec,
  embeddings: embeddingsCodec,
};
