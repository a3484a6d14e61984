import type { EndpointCodec } from '../codec.ts';
import { formatOpenAiError, readOpenAiError } from '../openai-error.ts';
import { formatSubstitute, readAnswer } from './answer.ts';
import { readRequest } from './request.ts';
import { ResponsesStreamReader } from './stream-reader.ts';
import { ResponsesStreamWriter } from './stream-writer.ts';

/** `POST /v1/responses`, as the types of the openai package describe it. */
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
