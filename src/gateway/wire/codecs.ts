import { chatCodec } from './chat/codec.ts';
import type { EndpointCodec, EndpointName } from './codec.ts';
import { embeddingsCodec } from './embeddings/codec.ts';
import { countTokensCodec, messagesCodec } from './messages/codec.ts';
import { formatOpenAiError } from './openai-error.ts';
import { RefusedCall } from './refusal.ts';

/** The codec of every endpoint. */
export const codecs: Readonly<Record<EndpointName, EndpointCodec>> = {
  chat: chatCodec,
  responses: absent('responses'),
  messages: messagesCodec,
  count_tokens: countTokensCodec,
  embeddings: embeddingsCodec,
};

/** In the place of a codec that is not there yet: nothing passes that hooks would have to read. */
function absent(name: EndpointName): EndpointCodec {
  const refuse = () => {
    throw new RefusedCall({
      status: 501,
      code: 'not_implemented',
      message: 'Hooks cannot read this endpoint yet.',
      isRetryable: false,
    });
  };
  return { name, readRequest: refuse, readAnswer: refuse, readError: refuse, refusal: formatOpenAiError };
}
