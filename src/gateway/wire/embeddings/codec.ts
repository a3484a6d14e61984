import type { EndpointCodec } from '../codec.ts';
import { formatOpenAiError, readOpenAiError } from '../openai-error.ts';
import { readEmbeddingsAnswer } from './answer.ts';
import { readEmbeddingsRequest } from './request.ts';

/** `POST /v1/embeddings`: https://platform.openai.com/docs/api-reference/embeddings. */
export const embeddingsCodec: EndpointCodec = {
  name: 'embeddings',
  readRequest: readEmbeddingsRequest,
  readAnswer: readEmbeddingsAnswer,
  readError: readOpenAiError,
  refusal: formatOpenAiError,
};
