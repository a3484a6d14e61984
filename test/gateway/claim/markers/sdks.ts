import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { EndpointName } from '../../../../src/gateway/wire/codec.ts';

/** The JSON that the endpoint's official SDK assembles from a stream; empty if the SDK throws. */
export async function readBySdk(endpoint: EndpointName, stream: string): Promise<string> {
  const fetch = async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  const options = {
    apiKey: 'k',
    baseURL: 'http://x.invalid',
    fetch,
    maxRetries: 0,
    logLevel: 'off',
  } as const;
  const ask = { role: 'user', content: 'hi' } as const;
  try {
    switch (endpoint) {
      case 'chat':
        return JSON.stringify(
          await new OpenAI(options).chat.completions
            .stream({ model: 'm', messages: [ask] })
            .finalChatCompletion(),
        );
      case 'responses':
        return JSON.stringify(
          await new OpenAI(options).responses.stream({ model: 'm', input: 'hi' }).finalResponse(),
        );
      case 'messages':
        return JSON.stringify(
          await new Anthropic(options).messages
            .stream({ model: 'm', max_tokens: 9, messages: [ask] })
            .finalMessage(),
        );
      default:
        return '';
    }
  } catch {
    return '';
  }
}
