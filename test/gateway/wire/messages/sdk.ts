import Anthropic from '@anthropic-ai/sdk';

export async function accumulate(text: string): Promise<unknown> {
  const client = new Anthropic({
    apiKey: 'unused',
    maxRetries: 0,
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const stream = client.beta.messages.stream({
    model: 'm',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
  });
  let whole = 'null';
  // Before the SDK adds members of its own.
  stream.on('streamEvent', (event, message) => {
    if (event.type === 'message_stop') whole = JSON.stringify(message);
  });
  await stream.finalMessage();
  return JSON.parse(whole);
}
