import { chatCodec } from './chat/codec.ts';
import type { EndpointCodec, EndpointName } from './codec.ts';
import { embeddingsCodec } from './embeddings/codec.ts';
import { countTokensCodec, messagesCodec } from './messages/codec.ts';
import { responsesCodec } from './responses/codec.ts';

/** The codec of every endpoint. */
export const codecs: Readonly<Record<EndpointName, EndpointCodec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  count_tokens: countTokensCodec,
  embeddings: embeddingsCodec,
};
